#include <coldpress/convert/fold.hpp>

#include "convert/outputs.hpp"
#include "dynamic/tensors.hpp"

#include <coldpress/persist.hpp>

using namespace coldpress;
using namespace coldpress::test;

namespace {

/// A network whose weights and statistics are random.
persist::Model model_of(LayerConfig const& config) {
  persist::Model model = persist::model_of(Net::from_config(Backend{}, config, {}, 3));
  Random random{7};
  for (auto& weight : model.weights) {
    bool const variance = weight.name.ends_with("variance");
    for (float& value : weight.values) value = random.uniform(variance ? 0.2f : -1, variance ? 2.0f : 1);
  }
  return model;
}
std::vector<std::vector<float>> outputs_of(persist::Model const& model) {
  Net net = persist::layer_of(Backend{}, model);
  net.set_mode(Mode::inference);
  std::vector<SharedTensor> inputs;
  for (Shape const& shape : net.input_shapes()) inputs.push_back(noise({3, shape.size()}, inputs.size() + 1));
  std::vector<std::vector<float>> all;
  for (SharedTensor const& y : net.forward(inputs)) all.push_back(values_of(y));
  return all;
}
/// Folds these layers and no others, and the outputs stay.
void check_folds(LayerConfig const& config, std::vector<std::string> const& names,
                 std::vector<convert::FoldedNormalizations::Kept> const& others = {}) {
  persist::Model const before = model_of(config);
  persist::Model after = before;
  auto const [folded, kept] = convert::fold_batch_normalization(after);
  CHECK(folded == names);
  REQUIRE(kept.size() == others.size());
  for (std::size_t i = 0; i < kept.size(); ++i) {
    CHECK(kept[i].name == others[i].name);
    CHECK(kept[i].reason == others[i].reason);
  }
  for (auto const& weight : after.weights) {
    for (std::string const& name : names) CHECK(!weight.name.starts_with(name + "-"));
  }
  auto const wanted = outputs_of(before), made = outputs_of(after);
  REQUIRE(made.size() == wanted.size());
  for (std::size_t k = 0; k < made.size(); ++k) CHECK(convert_test::difference(made[k], wanted[k]) < 1e-5);
  if (names.empty()) CHECK(after == before);
}
LayerConfig network(SequentialConfig graph) { return {"network", std::move(graph)}; }

}  // namespace

TEST_CASE("a normalisation is folded into each kind of layer that has outputs of its own") {
  check_folds(sequential({{"conv", Convolution{.num_output = 6, .filter_shape = 3, .groups = 2}},
                          {"norm", BatchNormalization{}},
                          {"relu", ReLU{}},
                          {"bare", Convolution{.num_output = 5, .filter_shape = 2, .has_bias = false}},
                          {"next", BatchNormalization{.epsilon = 0.3f}}},
                         Shape{4, 6, 7}),
              {"norm", "next"});
  check_folds(
      sequential({{"up", ConvolutionTranspose{.num_output = 6, .filter_shape = {2, 3}, .stride = 2, .groups = 3}},
                  {"norm", BatchNormalization{}},
                  {"dense", Linear{5}},
                  {"next", BatchNormalization{.axis = -1}}},
                 Shape{3, 4, 2}),
      {"norm", "next"});
  check_folds(sequential({{"conv", Convolution{.num_output = 6, .filter_shape = {2, 3, 1}, .groups = 2}},
                          {"norm", BatchNormalization{}},
                          {"up", ConvolutionTranspose{.num_output = 4, .filter_shape = 2, .has_bias = false}},
                          {"next", BatchNormalization{.axis = -4}}},
                         Shape{4, 3, 4, 2}),
              {"norm", "next"});
  check_folds(
      sequential({{"steps", Convolution{.num_output = 6, .filter_shape = 3, .dilation = 2}},
                  {"norm", BatchNormalization{.axis = 1}},
                  {"up", ConvolutionTranspose{.num_output = 4, .filter_shape = 3, .groups = 2, .has_bias = false}},
                  {"next", BatchNormalization{.axis = -1}},
                  {"rows", Linear{.output_size = 5, .has_bias = false, .last_axis = true}},
                  {"last", BatchNormalization{.axis = -1}}},
                 Shape{9, 4}),
      {"norm", "next", "last"});
}

TEST_CASE("two normalisations one after another are folded one after another") {
  check_folds(
      sequential({{"dense", Linear{5}}, {"one", BatchNormalization{}}, {"two", BatchNormalization{}}}, Shape{4}),
      {"one", "two"});
  check_folds(sequential({{"bare", Linear{.output_size = 5, .has_bias = false}},
                          {"one", BatchNormalization{}},
                          {"two", BatchNormalization{}}},
                         Shape{4}),
              {"one", "two"});
}

TEST_CASE("in a network with branches, a normalisation is folded if nothing else reads the layer before it") {
  SequentialConfig graph;
  graph.add_input("data", {2, 5, 5});
  auto const add = [&](std::string const& name, dynamic::LayerType layer, std::vector<std::string> inputs,
                       std::string const& output) {
    graph.add_layer(wired({name, std::move(layer)}, std::move(inputs), {output}));
  };
  Convolution const filters{.num_output = 2, .filter_shape = 3, .padding = 1};
  add("first", filters, {"data"}, "a"), add("first norm", BatchNormalization{}, {"a"}, "b");
  add("second", filters, {"b"}, "c"), add("second norm", BatchNormalization{}, {"c"}, "c");  // in place
  add("third", filters, {"c"}, "d"), add("third norm", BatchNormalization{}, {"d"}, "e");
  add("sum", Add{}, {"b", "e"}, "f"), add("both", Add{}, {"f", "d"}, "y");  // which reads the third
  std::vector<convert::FoldedNormalizations::Kept> const third{
      {"third norm", "something else reads what 'third' makes"}};
  check_folds(network(graph), {"first norm", "second norm"}, third);
  LayerConfig outer = sequential({network(graph), {"last", Linear{3}}, {"norm", BatchNormalization{}}}, Shape{2, 5, 5});
  check_folds(outer, {"first norm", "second norm", "norm"}, third);
}

TEST_CASE("a normalisation is folded through layers that give the values another shape, and wherever it stands") {
  // As of Conv1d with BatchNorm1d: rows of values are images of one row.
  check_folds(sequential({{"image", Reshape{.shape = {3, 1, 8}}},
                          {"conv", Convolution{.num_output = 4, .filter_shape = {1, 3}}},
                          {"rows", Reshape{.shape = {4, 6}}},
                          {"norm", BatchNormalization{}},
                          {"image again", Reshape{.shape = {4, 1, 6}}},
                          {"all", Convolution{.num_output = 5, .filter_shape = {1, 6}}},
                          {"flat", Flatten{}},
                          {"same", Reshape{.shape = {1, 5}}},
                          {"next", BatchNormalization{.axis = -1}}},
                         Shape{3, 8}),
              {"norm", "next"});
  check_folds(sequential({{"steps", Convolution{.num_output = 4, .filter_shape = 3}},
                          {"apart", Reshape{.shape = {2, 3, 4}}},
                          {"norm", BatchNormalization{.axis = 2}}},
                         Shape{6, 4}),
              {"norm"});
  check_folds(sequential({{"conv", Convolution{.num_output = 4, .filter_shape = 1}},
                          {"rows", Reshape{.shape = {2, 2, 16}}},
                          {"norm", BatchNormalization{.axis = 1}}},
                         Shape{3, 4, 4}),
              {}, {{"norm", "its axis 1 is not that of the outputs of 'conv' (convolution)"}});
  check_folds(sequential({{"conv", Convolution{.num_output = 4, .filter_shape = 1}},
                          {"flat", Flatten{}},
                          {"norm", BatchNormalization{}}},
                         Shape{3, 2, 2}),
              {}, {{"norm", "the weight 'norm-0' has 16 values, and not one for each of 4 outputs"}});
  SequentialConfig graph;
  graph.add_input("data", {4});
  auto const add = [&](std::string const& name, dynamic::LayerType layer, std::vector<std::string> inputs,
                       std::string const& output) {
    graph.add_layer(wired({name, std::move(layer)}, std::move(inputs), {output}));
  };
  add("one", Linear{6}, {"data"}, "a"), add("two", Linear{6}, {"data"}, "b");
  add("shape", Reshape{.shape = {6, 1}}, {"a"}, "c");
  add("norm of two", BatchNormalization{}, {"b"}, "d"), add("norm of one", BatchNormalization{}, {"c"}, "e");
  add("flat", Flatten{}, {"e"}, "f"), add("sum", Add{}, {"d", "f"}, "y");
  check_folds(network(graph), {"norm of two", "norm of one"});
  add("also reads", Add{}, {"a", "y"}, "z");
  check_folds(network(graph), {"norm of two"}, {{"norm of one", "something else reads what 'one' makes"}});
}

TEST_CASE("a normalisation stays where folding would give another network, and the reason is said") {
  auto const check_stays = [](LayerConfig const& config, std::string const& reason) {
    check_folds(config, {}, {{"norm", reason}});
  };
  check_stays(sequential({{"norm", BatchNormalization{}}, {"dense", Linear{3}}}, Shape{4}), "no layer comes before it");
  check_stays(sequential({{"dense", Linear{3}}, {"relu", ReLU{}}, {"norm", BatchNormalization{}}}, Shape{4}),
              "it comes after 'relu' (relu), which is no convolution or dense layer");
  check_stays(
      sequential({{"conv", Convolution{.num_output = 4, .filter_shape = 1}}, {"norm", BatchNormalization{.axis = 1}}},
                 Shape{4, 4, 4}),
      "its axis 1 is not that of the outputs of 'conv' (convolution)");
  check_stays(
      sequential({{"steps", Convolution{.num_output = 4, .filter_shape = 1}}, {"norm", BatchNormalization{.axis = 0}}},
                 Shape{4, 4}),
      "its axis 0 is not that of the outputs of 'steps' (convolution)");
  LayerConfig one{"one", Linear{4}}, two{"two", Linear{4}}, norm{"norm", BatchNormalization{}};
  one.params = two.params = {{.name = "shared"}};
  check_stays(sequential({one, norm, two}, Shape{4}),
              "'one' has weights with names of their own, which layers may share");
  LayerConfig tied{"tied", TiedLinear{4}};
  tied.params = {{.name = "dense-0", .share_mode = dynamic::DimCheckMode::permissive}};
  check_stays(sequential({{"dense", Linear{4}}, norm, tied}, Shape{4}), "other layers share the weight 'dense-0'");
  SequentialConfig graph;
  graph.add_input("data", {4}), graph.add_layer({"dense", Linear{4}}).add_layer(norm).add_layer({"relu", ReLU{}});
  graph.add_layer(wired({"sum", Add{}}, {"SEQUENTIAL_1", "data"}, {"y"}));
  check_stays(network(graph), "layers read values whose names count layers, which would be counted anew");
}

TEST_CASE("a normalisation stays behind a weight that has not the layer's shape") {
  auto const check_stays = [](dynamic::LayerType layer, std::vector<Index> shape) {
    SequentialConfig graph;
    graph.layers = {{"layer", std::move(layer)}, {"norm", BatchNormalization{}}};
    persist::Model model{.config = network(std::move(graph))};
    std::size_t values = 1;
    for (Index const extent : shape) values *= static_cast<std::size_t>(extent);
    model.weights.push_back({"layer-0", std::move(shape), std::vector<float>(values, 1.0f)});
    for (char const* suffix : {"-0", "-0-bias", "-0-mean", "-0-variance"})
      model.weights.push_back({std::string{"norm"} + suffix, {1, 4}, std::vector<float>(4, 1.0f)});
    persist::Model const before = model;
    auto const [folded, kept] = convert::fold_batch_normalization(model);
    CHECK(folded.empty());
    REQUIRE(kept.size() == 1);
    CHECK(kept[0].reason.ends_with(" does not have its shape"));
    CHECK(model == before);
  };
  Linear const dense{.output_size = 4, .has_bias = false};
  check_stays(dense, {1, 1});
  check_stays(dense, {1, 9});
  check_stays(Convolution{.num_output = 4, .has_bias = false}, {1, 4, 4, 1});
  for (Index const groups : {-1, 0, 4, 5}) {
    ConvolutionTranspose const up{.num_output = 4, .groups = groups, .has_bias = false};
    check_stays(up, {1});
    check_stays(up, {3, 2, 1, 1});
  }
}
