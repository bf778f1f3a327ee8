#include <coldpress/convert/onnx.hpp>

#include "data/files.hpp"
#include "support/catch.hpp"

#include <coldpress/data/npy.hpp>
#include <coldpress/persist/network.hpp>

#include <cmath>
#include <cstdlib>
#include <filesystem>

using namespace coldpress;
using namespace coldpress::convert;

namespace {

bool has() {
  if (!has_onnx()) WARN("skipped: coldpress::convert was built without protobuf");
  return has_onnx();
}
std::string folder() {
  char const* const source = std::getenv("COLDPRESS_SOURCE_DIR");
  return (source ? std::string{source} + "/" : "") + "tests/convert/onnx/";
}

/// The largest difference from PyTorch's outputs, in parts of the largest output.
double difference(std::string const& name, std::string const& exporter, OnnxOptions const& options = {}) {
  auto const read = read_onnx(folder() + name + "." + exporter + ".onnx", options);
  auto layer = persist::layer_of(dynamic::Backend{"cpu"}, read.model);
  layer.set_mode(dynamic::Mode::inference);
  auto const x = data::read_npy(folder() + name + ".x.npy"), y = data::read_npy(folder() + name + ".y.npy");
  dynamic::SharedTensor const input{x.extents};
  std::ranges::copy(x.values, input.write_only().begin());
  auto const& output = layer.forward(input);
  CHECK(output.shape() == y.extents);
  double most = 0, largest = 0;
  auto const found = output.read();
  REQUIRE(found.size() == y.values.size());
  for (std::size_t i = 0; i < y.values.size(); ++i) {
    most = std::max(most, std::abs(static_cast<double>(found[i]) - static_cast<double>(y.values[i])));
    largest = std::max(largest, std::abs(static_cast<double>(y.values[i])));
  }
  return most / largest;
}

}  // namespace

TEST_CASE("models of PyTorch, from both of its exporters, compute what PyTorch does") {
  if (!has()) return;
  for (auto const& file : std::filesystem::directory_iterator{folder()}) {
    std::string const path = file.path().filename().string();
    if (!path.ends_with(".onnx")) continue;
    auto const dot = path.find('.');
    std::string const name = path.substr(0, dot), exporter = path.substr(dot + 1, path.rfind('.') - dot - 1);
    DYNAMIC_SECTION(name << " by " << exporter) { CHECK(difference(name, exporter) <= 1e-5); }
  }
}
