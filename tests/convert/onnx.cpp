#include <coldpress/convert/onnx.hpp>

#include "convert/outputs.hpp"
#include "data/files.hpp"
#include "support/catch.hpp"

#include <coldpress/data/npy.hpp>
#include <coldpress/dynamic/stream.hpp>
#include <coldpress/persist/network.hpp>

#include <array>
#include <filesystem>

using namespace coldpress;
using namespace coldpress::convert;

namespace {

bool has() {
  if (!has_onnx()) WARN("skipped: coldpress::convert was built without protobuf");
  return has_onnx();
}
std::string folder() { return convert_test::in_source("onnx/"); }

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
  return convert_test::difference(output.read(), y.values);
}

/// The layers of a network, and how many of them are of one kind.
std::vector<dynamic::LayerConfig> const& layers_of(persist::Model const& model) {
  return std::get<dynamic::SequentialConfig>(model.config.layer_type).layers;
}
auto count(persist::Model const& model, std::string const& kind) {
  return std::ranges::count(layers_of(model), kind,
                            [](auto const& layer) { return dynamic::type_name(layer.layer_type); });
}
persist::Model model_of(std::string const& name, OnnxOptions const& options = {}) {
  return read_onnx(folder() + name + ".onnx", options).model;
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

TEST_CASE("an ONNX model is written as a file of coldpress, and is the same when it is read") {
  if (!has()) return;
  for (auto const& file : std::filesystem::directory_iterator{folder()}) {
    if (file.path().extension() != ".onnx") continue;
    INFO(file.path().string());
    TemporaryFolder const written;
    auto const model = read_onnx(file.path().string()).model;
    persist::write_model(written / "a.juice", model);
    auto const again = persist::read_model(written / "a.juice");
    CHECK(again.config == model.config);
    CHECK(again.weights == model.weights);
  }
}

TEST_CASE("operators that are one layer together become that layer, in old models and in new ones") {
  if (!has()) return;
  for (std::string const exporter : {"script", "dynamo", "opset13"}) {
    auto const mlp = model_of("mlp." + exporter);
    INFO(exporter);
    CHECK(layers_of(mlp).size() == 7);
    for (std::string const kind : {"gelu", "layer_normalization", "silu", "softmax"}) CHECK(count(mlp, kind) == 1);
    CHECK(count(mlp, "linear") == 3);
  }
  for (std::string const exporter : {"script", "dynamo", "opset14"}) {
    auto const gpt = model_of("gpt." + exporter);
    INFO(exporter);
    CHECK(count(gpt, "scaled_dot_product_attention") == 1);
    CHECK(count(gpt, "layer_normalization") == 2);
    CHECK(count(gpt, "gelu") == 1);
    CHECK(count(gpt, "linear") == 4);
    CHECK(count(gpt, "permute") == 0);
    for (auto const& layer : layers_of(gpt)) {
      auto const* const attention = std::get_if<ScaledDotProductAttention>(&layer.layer_type);
      if (attention) CHECK((attention->causal && attention->heads == 2));
    }
  }
  for (std::string const exporter : {"script", "dynamo"}) {
    INFO(exporter);
    CHECK(count(model_of("transformer." + exporter), "scaled_dot_product_attention") == 2);
    CHECK(count(model_of("transformer." + exporter), "permute") == 0);
    CHECK(count(model_of("unet." + exporter), "mish") + count(model_of("unet." + exporter), "softplus") >= 2);
    CHECK(count(model_of("tcn." + exporter), "slice") == 0);
    // Channels last: once into the order of images, and once back.
    CHECK(count(model_of("channels_last." + exporter), "permute") == 2);
  }
}

TEST_CASE("layers have the names of PyTorch's modules, and weights say which tensor they are") {
  if (!has()) return;
  for (std::string const exporter : {"script", "dynamo"}) {
    auto const read = read_onnx(folder() + "resnet." + exporter + ".onnx");
    INFO(exporter);
    auto const origin = [&](std::string const& weight) {
      auto const found = std::ranges::find(read.filled, weight, &std::pair<std::string, std::string>::first);
      return found == read.filled.end() ? "" : found->second;
    };
    CHECK(origin("fc-0") == "fc.weight");
    CHECK(origin("fc-0-bias") == "fc.bias");
    CHECK_FALSE(origin("layer2.0.downsample.0-0").empty());
    CHECK(read.model.config.outputs == std::vector<std::string>{"y"});
    CHECK(read.initialised.empty());
    CHECK(read.unused.empty());
  }
}

TEST_CASE("a causal model of PyTorch is streamed, step by step and in blocks") {
  if (!has()) return;
  for (std::string const exporter : {"script", "dynamo"}) {
    INFO(exporter);
    auto const whole = model_of("wavenet." + exporter, {.steps_first = true});
    CHECK(count(whole, "permute") == 0);
    CHECK(count(whole, "reshape") == 0);
    auto const x = data::read_npy(folder() + "wavenet.x.npy"), y = data::read_npy(folder() + "wavenet.y.npy");
    auto layer = persist::layer_of(dynamic::Backend{"cpu"}, whole, Shape{1, 1});
    for (std::size_t t = 0; t < 24; ++t) {
      float const sample = x.values[t];
      CHECK(layer.step({&sample, 1})[0] == Approx(y.values[t]).margin(1e-6));
    }
    // A step is {features} in a stream, and a layer along the features must find them there.
    auto const steps = persist::layer_of(dynamic::Backend{"cpu"}, whole, Shape{1});
    dynamic::Stream stream{steps};
    for (std::size_t t = 0; t < 24; t += 8) {
      std::array<float, 8> out{};
      stream.process({x.values.data() + t, 8}, out);
      for (std::size_t i = 0; i < 8; ++i) CHECK(out[i] == Approx(y.values[t + i]).margin(1e-6));
    }
  }
}

TEST_CASE("the table of operators in the docs is that of the reader") {
  if (!has()) return;
  char const* const source = std::getenv("COLDPRESS_SOURCE_DIR");
  std::string const page = content((source ? std::string{source} + "/" : "") + "docs/onnx.md");
  for (auto const& row : onnx_operators()) {
    INFO(row.name);
    CHECK(contains(page, "| " + row.name + " | " + row.layers + " |\n"));
  }
}
