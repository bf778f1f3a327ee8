// Networks as ONNX models, read again. With COLDPRESS_ONNX_CASES, the models are left in that folder with inputs and
// outputs, for onnx_runtime.py.
#include <coldpress/convert/onnx.hpp>

#include "convert/onnx_cases.hpp"
#include "convert/outputs.hpp"
#include "data/files.hpp"
#include "support/catch.hpp"
#include "support/random.hpp"
#include "support/random_config.hpp"

#include <coldpress/data/npy.hpp>
#include <coldpress/persist/network.hpp>

#include <cstdlib>
#include <set>

using namespace coldpress;
using namespace coldpress::convert;
using onnx_cases::Input;

namespace {

bool has() {
  if (!has_onnx()) WARN("skipped: coldpress::convert was built without protobuf");
  return has_onnx();
}

constexpr Index samples = 3;

/// The model of a config, with random weights. Variances are above 0.
persist::Model random_model(dynamic::LayerConfig const& config, std::uint64_t seed = 1) {
  persist::Model model = persist::model_of(dynamic::Layer::from_config(dynamic::Backend{"cpu"}, config, {}, seed));
  test::Random random{seed};
  for (auto& weight : model.weights) {
    weight.values = random.values<float>(static_cast<Index>(weight.values.size()));
    if (!weight.name.ends_with("-variance")) continue;
    for (float& value : weight.values) value = 0.5f + value * value;
  }
  return model;
}

std::vector<std::vector<float>> random_inputs(std::vector<Input> const& inputs, std::uint64_t seed = 2) {
  test::Random random{seed};
  std::vector<std::vector<float>> all;
  for (Input const& input : inputs) {
    auto& values = all.emplace_back(random.values<float>(samples * input.shape.size()));
    for (float& value : values) {
      if (input.numbers > 0) value = static_cast<float>(random.integer(0, input.numbers - 1));
    }
  }
  return all;
}

struct Output {
  std::vector<Index> extents;
  std::vector<float> values;
};
/// The outputs of a network in inference. It takes the inputs of the same number and shape.
std::vector<Output> outputs(persist::Model const& model, std::vector<std::vector<float>> const& inputs) {
  auto layer = persist::layer_of(dynamic::Backend{"cpu"}, model);
  layer.set_mode(dynamic::Mode::inference);
  REQUIRE(layer.input_shapes().size() == inputs.size());
  std::vector<dynamic::SharedTensor> tensors;
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    Shape const shape = layer.input_shapes()[k];
    std::vector<Index> extents{samples};
    extents.insert(extents.end(), shape.extents, shape.extents + shape.rank());
    tensors.emplace_back(extents);
    std::ranges::copy(inputs[k], tensors.back().write_only().begin());
  }
  std::vector<Output> all;
  for (auto const& output : layer.forward(tensors)) {
    auto const values = output.read();
    all.push_back({output.shape(), {values.begin(), values.end()}});
  }
  return all;
}

/// Leaves a case for other programs.
void keep(std::string const& name, persist::Model const& model, std::vector<std::vector<float>> const& inputs,
          std::vector<Output> const& expected) {
  char const* const folder = std::getenv("COLDPRESS_ONNX_CASES");
  if (folder == nullptr) return;
  std::string const path = std::string{folder} + "/" + name;
  write_onnx(path + ".onnx", model);
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    std::vector<Index> const extents{samples, static_cast<Index>(inputs[k].size()) / samples};
    data::write_npy(path + ".x" + std::to_string(k) + ".npy", extents, inputs[k]);
  }
  for (std::size_t k = 0; k < expected.size(); ++k)
    data::write_npy(path + ".y" + std::to_string(k) + ".npy", expected[k].extents, expected[k].values);
}

persist::Model written_and_read(persist::Model const& model) {
  TemporaryFolder const folder;
  write_onnx(folder / "a.onnx", model);
  return read_onnx(folder / "a.onnx").model;
}

void check_same(persist::Model const& model, std::vector<std::vector<float>> const& inputs,
                std::vector<Output> const& expected) {
  auto const found = outputs(written_and_read(model), inputs);
  REQUIRE(found.size() == expected.size());
  for (std::size_t k = 0; k < found.size(); ++k) {
    CHECK(found[k].extents == expected[k].extents);
    CHECK(convert_test::difference(found[k].values, expected[k].values) <= 1e-5);
  }
}

}  // namespace

TEST_CASE("every layer is written as operators that are read as a network with the same outputs") {
  if (!has()) return;
  for (onnx_cases::Case const& each : onnx_cases::layers()) {
    DYNAMIC_SECTION(each.name) {
      persist::Model const model = random_model(each.config);
      auto const inputs = random_inputs(each.inputs);
      auto const expected = outputs(model, inputs);
      keep(each.name, model, inputs, expected);
      if (each.why_not.empty()) {
        check_same(model, inputs, expected);
      } else {
        CHECK(contains(message<UnsupportedError>([&] { static_cast<void>(written_and_read(model)); }), each.why_not));
      }
    }
  }
}
