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
#include <coldpress/persist/training.hpp>

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

/// Whether a network has these outputs.
void check_outputs(persist::Model const& model, std::vector<std::vector<float>> const& inputs,
                   std::vector<Output> const& expected) {
  auto const found = outputs(model, inputs);
  REQUIRE(found.size() == expected.size());
  for (std::size_t k = 0; k < found.size(); ++k) {
    CHECK(found[k].extents == expected[k].extents);
    if (found[k].values != expected[k].values)  // which may all be zero
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
        check_outputs(written_and_read(model), inputs, expected);
      } else {
        CHECK(contains(message<UnsupportedError>([&] { static_cast<void>(written_and_read(model)); }), each.why_not));
      }
    }
  }
}

TEST_CASE("random networks with branches, several inputs and outputs, and shared weights are written and read") {
  if (!has()) return;
  int written = 0, refusals = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    bool const losses = seed % 3 == 0;
    test::RandomConfig const random{seed, 12, losses};
    INFO("seed " << seed);
    persist::Model const model = random_model(random.config(), seed);
    auto const& container = std::get<dynamic::SequentialConfig>(model.config.layer_type);
    persist::Model again;
    try {
      again = written_and_read(model);
    } catch (UnsupportedError const& error) {  // a layer that draws numbers, on which an output depends
      CHECK(contains(error.what(), "in the way: randomNormal 'v"));
      ++refusals;
      continue;
    }
    std::vector<Input> inputs;
    for (auto const& input : container.inputs) inputs.push_back({input.shape});
    auto const all = random_inputs(inputs, seed);
    auto const expected = outputs(model, all);
    // Inputs that only losses, or nothing at all, read are left out.
    std::vector<std::vector<float>> used;
    for (auto const& input : std::get<dynamic::SequentialConfig>(again.config.layer_type).inputs) {
      auto const place = std::ranges::find(container.inputs, input.name, &dynamic::ShapedInput::name);
      REQUIRE(place != container.inputs.end());
      used.push_back(all[static_cast<std::size_t>(place - container.inputs.begin())]);
    }
    keep("random." + std::to_string(seed), model, used, expected);
    CHECK(again.config.outputs == model.config.outputs);
    check_outputs(again, used, expected);
    ++written;
  }
  CHECK(written > 20);
  CHECK(refusals > 5);
}

TEST_CASE("the networks of the examples are written and read") {
  if (!has()) return;
  struct Example {
    std::string name;
    Input input;
  };
  Shape const digit{28, 28};
  for (auto const& [name, input] :
       {Example{"autoencoder", {digit}}, Example{"cifar10-full", {{3, 32, 32}}}, Example{"fashion", {digit}},
        Example{"gpt", {{32}, 256}}, Example{"lenet", {digit}}, Example{"linear-regression", {{5}}},
        Example{"mackey-glass-lstm", {{10}}}, Example{"mnist-conv", {digit}}, Example{"mnist-mlp", {digit}},
        Example{"mocha-dropout", {digit}}, Example{"mocha-lenet", {digit}}, Example{"residual", {digit}}}) {
    DYNAMIC_SECTION(name) {
      auto config =
          persist::read_training(convert_test::in_source("../../examples/configs/" + name + ".capnp.txt")).network;
      if (!dynamic::declares_input(config)) dynamic::declare_input(config, input.shape);
      auto const& declared = std::get<dynamic::SequentialConfig>(config.layer_type).inputs;
      persist::Model const model = random_model(config);
      auto x = random_inputs({input});
      auto all = x;
      while (all.size() < declared.size()) all.push_back(std::vector<float>(samples, 0));  // labels
      auto const expected = outputs(model, all);
      keep("examples." + name, model, x, expected);
      check_outputs(written_and_read(model), x, expected);
    }
  }
}

TEST_CASE("inputs, outputs, nodes and constants have the names of the network, and the bytes are always the same") {
  if (!has()) return;
  dynamic::SequentialConfig layers;
  layers.add_input("words", {4}).add_input("labels", {1});
  layers.add_layer({"table", Embedding{.vocabulary = 5, .features = 3}});
  layers.add_layer({"features.0", Linear{2}}).add_layer({"scores", LogSoftmax{}});
  dynamic::LayerConfig loss{"loss", NegativeLogLikelihood{2}};
  loss.inputs = {"scores", "labels"};
  layers.layers.back().outputs = {"scores"};
  layers.add_layer(loss);
  dynamic::LayerConfig config{"classifier", layers};
  config.outputs = {"scores"};
  persist::Model const model = random_model(config);
  TemporaryFolder const folder;
  write_onnx(folder / "a.onnx", model), write_onnx(folder / "b.onnx", model);
  std::string const bytes = content(folder / "a.onnx");
  CHECK(bytes == content(folder / "b.onnx"));
  CHECK(is_onnx(folder / "a.onnx"));
  for (std::string const name : {"words", "batch", "table-0", "features.0-0", "features.0-0-bias", "classifier"})
    CHECK(contains(bytes, name));
  CHECK_FALSE(contains(bytes, "labels"));
  CHECK_FALSE(contains(bytes, "loss"));
  auto const read = read_onnx(folder / "a.onnx");
  std::vector<std::string> names;
  for (auto const& layer : std::get<dynamic::SequentialConfig>(read.model.config.layer_type).layers)
    names.push_back(layer.name);
  CHECK(names == std::vector<std::string>{"table", "features.0.flatten.shape", "features.0", "scores"});
  CHECK(read.model.config.outputs == std::vector<std::string>{"scores"});
  CHECK(read.model.config.name == "classifier");
  CHECK(std::ranges::find(read.filled, std::pair<std::string, std::string>{"table-0", "table-0"}) != read.filled.end());
}

TEST_CASE("a weight that layers share is one constant") {
  if (!has()) return;
  dynamic::SequentialConfig layers;
  layers.add_input("x", {6});
  layers.add_layer({"code", Linear{4}}).add_layer({"again", TiedLinear{.output_size = 6}});
  layers.layers[0].params = {{.name = "w"}}, layers.layers[1].params = {{.name = "w"}, {.name = "own"}};
  auto const size = [&](dynamic::SequentialConfig const& of) {
    TemporaryFolder const folder;
    write_onnx(folder / "a.onnx", random_model({"n", of}));
    return content(folder / "a.onnx").size();
  };
  std::size_t const shared = size(layers);
  layers.layers[1].params.clear();
  CHECK(size(layers) >= shared + 6 * 4 * sizeof(float));
}

TEST_CASE("a network that plays step by step is written as one of a sequence of any length") {
  if (!has()) return;
  dynamic::SequentialConfig layers;
  layers.add_input("sound", {1});
  layers.add_layer({"conv", Convolution{.num_output = 3, .filter_shape = 4}}).add_layer({"rnn", Rnn{.hidden_size = 2}});
  layers.add_layer({"positions", SinusoidalPositions{}});
  persist::Model const model = random_model({"amp", layers});
  TemporaryFolder const folder;
  write_onnx(folder / "a.onnx", model, Shape{7, 1});
  persist::Model const read = read_onnx(folder / "a.onnx").model;
  auto const x = random_inputs({{{7, 1}}});
  auto const y = outputs(read, x);
  REQUIRE(y[0].extents == std::vector<Index>{samples, 7, 2});
  auto layer = persist::layer_of(dynamic::Backend{"cpu"}, model);
  std::vector<float> steps;
  for (std::size_t t = 0; t < 7; ++t) {
    auto const step = layer.step({&x[0][t], 1});
    steps.insert(steps.end(), step.begin(), step.end());
  }
  CHECK(convert_test::difference(std::span{y[0].values}.first(steps.size()), steps) <= 1e-5);
  CHECK(message<ShapeError>([&] { write_onnx(folder / "a.onnx", model, Shape{2, 5}); }).size() > 0);
}

TEST_CASE("constants that have no room in a file are refused before they take memory") {
  if (!has()) return;
  Index const steps = Index{1} << 20;
  auto const attention = onnx_cases::one("", ScaledDotProductAttention{.causal = true}, {{{steps, 3}}});
  TemporaryFolder const folder;
  CHECK(contains(message<UnsupportedError>([&] { write_onnx(folder / "a.onnx", {.config = attention.config}); }),
                 "scaledDotProductAttention 'scaled_dot_product_attention1': it needs a constant of {1048576, 1048576} "
                 "numbers, and a file has at most 2 GiB"));
}

TEST_CASE("one error lists all layers that are in the way, and nothing is written") {
  if (!has()) return;
  dynamic::SequentialConfig layers;
  layers.add_input("x", {3});
  for (std::string const name : {"first", "second"}) {
    dynamic::LayerConfig noise{name, RandomNormal{.shape = {3}}}, sum{"sum_" + name, Add{}};
    noise.outputs = {name}, sum.inputs = {name == "first" ? "x" : "sum_first", name}, sum.outputs = {sum.name};
    layers.add_layer(noise).add_layer(sum);
  }
  persist::Model const model = random_model({"n", layers});
  TemporaryFolder const folder;
  std::string const path = folder.put("a.onnx", "mine");
  std::string const why =
      "it draws numbers by the place of a sample in the minibatch, and no operator of ONNX draws the same ones";
  CHECK(message<UnsupportedError>([&] { write_onnx(path, model); }) ==
        "2 layers are in the way: randomNormal 'first': " + why + "; randomNormal 'second': " + why);
  CHECK(content(path) == "mine");
  CHECK(folder.names().size() == 1);
  persist::Model const fine = random_model(onnx_cases::one("", Linear{2}, {{{3}}}).config);
  std::string const nowhere = folder / "none/a.onnx";
  CHECK(message<FileError>([&] { write_onnx(nowhere, fine); }).starts_with(nowhere + ": "));
  persist::Model lacks = fine;
  lacks.weights.erase(lacks.weights.begin());
  CHECK(contains(message<FormatError>([&] { write_onnx(path, lacks); }), "weight 'linear1-0': is missing"));
  CHECK(content(path) == "mine");
}

TEST_CASE("every built-in layer has a row in the table, which is that of the docs, and an example") {
  if (!has()) return;
  std::set<std::string> known, tried;
  for (OnnxLayer const& row : onnx_layers()) known.insert(row.name);
  for (auto const& each : onnx_cases::layers()) tried.insert(each.layer);
  std::size_t count = 0;
  for_each_type(BuiltinLayers{}, [&]<class L>() {
    INFO(L::name);
    ++count;
    CHECK(known.contains(persist::camel_case(L::name)));
    CHECK(tried.contains(std::string{L::name}) == !std::is_same_v<L, RandomNormal>);
  });
  CHECK(known.size() == count);
  char const* const source = std::getenv("COLDPRESS_SOURCE_DIR");
  std::string const page = content((source ? std::string{source} + "/" : "") + "docs/convert.md");
  for (OnnxLayer const& row : onnx_layers()) {
    INFO(row.name);
    CHECK(contains(page, "| `" + row.name + "` | " + row.operators + " |\n"));
  }
}
