// What is in the ONNX models that are written, and what is not written.
#include "convert/onnx_round_trip.hpp"
#include "support/custom_layers.hpp"

#include <coldpress/dynamic/register_layer.hpp>

#include <set>

using namespace onnx_round_trip;

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

TEST_CASE("values, constants and nodes with the name of another one get a number") {
  if (!has()) return;
  dynamic::SequentialConfig layers;
  layers.add_input("a-0", {3});
  layers.add_layer({"a", Linear{3}}).add_layer({"a/Gemm", Softplus{.beta = 2}}).add_layer({"a_2", Linear{3}});
  dynamic::LayerConfig config{"n", layers};
  config.outputs = {"a"};
  persist::Model const model = random_model(config);
  auto const x = random_inputs({{{3}}});
  TemporaryFolder const folder;
  write_onnx(folder / "a.onnx", model);
  CHECK(contains(content(folder / "a.onnx"), "a-0_2"));
  check_outputs(read_onnx(folder / "a.onnx").model, x, outputs(model, x));
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
  dynamic::register_layer<custom_layers::Snake>();
  dynamic::SequentialConfig layers;
  layers.add_input("x", {3});
  dynamic::LayerConfig noise{"noise", RandomNormal{.shape = {3}}}, sum{"sum", Add{}},
      bent{"bent", custom_layers::Snake{}};
  noise.outputs = {"noise"}, sum.inputs = {"x", "noise"};
  layers.add_layer(noise).add_layer(sum).add_layer(bent).add_layer({"fine", TanH{}});
  persist::Model const model = random_model({"n", layers});
  TemporaryFolder const folder;
  std::string const path = folder.put("a.onnx", "mine");
  CHECK(message<UnsupportedError>([&] { write_onnx(path, model); }) ==
        "2 layers are in the way: randomNormal 'noise': it draws numbers by the place of a sample in the minibatch, "
        "and no "
        "operator of ONNX draws the same ones; snake 'bent': no operators of ONNX are known for it");
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
  std::string const page = content((source ? std::string{source} + "/" : "") + "docs/onnx.md");
  for (OnnxLayer const& row : onnx_layers()) {
    INFO(row.name);
    CHECK(contains(page, "| `" + row.name + "` | " + row.operators + " |\n"));
  }
}

TEST_CASE("the momentum of running statistics is the decimal number that it was") {
  if (!has()) return;
  for (float const momentum : {0.1f, 0.01f, 0.003f, 0.05f, 0.25f, 0.99f, 0.1234567f, 0.9999f}) {
    INFO(momentum);
    dynamic::SequentialConfig layers;
    layers.add_input("x", {3}).add_layer({"norm", BatchNormalization{.momentum = momentum}});
    auto const read = written_and_read(random_model({"n", layers}));
    auto const& first = std::get<dynamic::SequentialConfig>(read.config.layer_type).layers.at(0);
    CHECK(std::get<BatchNormalization>(first.layer_type).momentum == momentum);
  }
}

TEST_CASE("names of classes and metadata are written and read again") {
  if (!has()) return;
  dynamic::SequentialConfig layers;
  layers.add_input("x", {3}).add_layer({"fc", Linear{2}});
  persist::Model model = random_model({"n", layers});
  model.classes = {"a \"cat\" \\ or not", "it's a Käfer"};
  model.metadata = {{"author", "me"}, {"license", ""}};
  TemporaryFolder const folder;
  write_onnx(folder / "a.onnx", model);
  CHECK(contains(content(folder / "a.onnx"), R"({"0": "a \"cat\" \\ or not", "1": "it's a Käfer"})"));
  auto const read = read_onnx(folder / "a.onnx").model;
  CHECK(read.classes == model.classes);
  CHECK(read.metadata == model.metadata);
}

TEST_CASE("layers keep their names in a model that is written and read") {
  if (!has()) return;
  dynamic::SequentialConfig layers;
  layers.add_input("x", {2, 4, 4}).add_layer({"block/conv", Convolution{.num_output = 2, .filter_shape = 1}});
  layers.add_layer({"Act:1", ReLU{}}).add_layer({"block/Norm", BatchNormalization{}}).add_layer({"Relu", ReLU{}});
  layers.add_layer({"head.weight", Linear{3}}).add_layer({"soft max", LogSoftmax{}});
  auto const read = written_and_read(random_model({"n", layers}));
  std::vector<std::string> names;
  for (auto const& layer : std::get<dynamic::SequentialConfig>(read.config.layer_type).layers)
    names.push_back(layer.name);
  CHECK(names == std::vector<std::string>{"block/conv", "Act:1", "block/Norm", "Relu", "head.weight.flatten.shape",
                                          "head.weight", "soft max"});
}
