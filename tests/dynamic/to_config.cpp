// Network types as configs, and what counts as the same network.
#include "tensors.hpp"

#include <coldpress/dynamic/to_config.hpp>
#include <coldpress/typed/network.hpp>
#include <coldpress/typed/operations.hpp>
#include <coldpress/typed/solver.hpp>

namespace {

using namespace coldpress;
using namespace coldpress::test;

using Type = Sequential<Flatten{}, Sequential<Linear{8}, ReLU{}>{}, Named<"head", Linear{3}>{},
                        Dropout{.probability = 0.5f, .seed = 9}, Softmax{}>;
LayerConfig const type_config = dynamic::to_config<Type, Shape{2, 2}>();

/// Weights shared in each of the three ways, given names and others, two inputs, a loss and two outputs.
constexpr auto shares = graph([](auto x, auto labels) {
  Handle encode{Linear{4}};
  auto const code = x | name("features") | encode | ReLU{};
  auto const again = code | encode, back = again | encode | tied(again);
  auto const mixed = back + x;
  auto const first = mixed | shared("key", Linear{6});
  auto const scores = first | Linear{4} | shared("key", Linear{6}) | Linear{3} | name("scores");
  apply(SoftmaxLoss{}, scores, labels);
  return outputs(scores, mixed);
});

constexpr auto suggests = graph([](auto x) {
  for (int i = 0; i < 3; ++i) x = x | Linear{2} | suggested_name("part", i / 2, ".", "dense");
  return x | ReLU{} | name("own") | suggested_name("other");
});

std::vector<LayerConfig> layers_of(LayerConfig const& config) {
  return std::get<SequentialConfig>(config.layer_type).layers;
}

}  // namespace

TEST_CASE("a type becomes the config that one would write") {
  LayerConfig const expected = sequential({{"flatten1", Flatten{}},
                                           sequential({{"linear1", Linear{8}}, {"relu1", ReLU{}}}, {}, "sequential1"),
                                           {"head", Linear{3}},
                                           {"dropout1", Dropout{.probability = 0.5f, .seed = 9}},
                                           {"softmax1", Softmax{}}},
                                          Shape{2, 2});
  CHECK(type_config == expected);
  CHECK(dynamic::same_network(type_config, expected));
  CHECK(dynamic::difference(type_config, expected).empty());
}

TEST_CASE("a suggested name is dropped if another layer has it, or if the layer has one") {
  for (LayerConfig const& config :
       {dynamic::to_config(suggests, Shape{2}), dynamic::to_config<Graph<suggests>, Shape{2}>()}) {
    std::vector<std::string> names;
    for (LayerConfig const& layer : layers_of(config)) names.push_back(layer.name);
    CHECK(names == std::vector<std::string>{"part0.dense", "linear1", "part1.dense", "own"});
  }
}

TEST_CASE("names, containers, wiring and initial values make no difference") {
  LayerConfig const other = sequential({wired({"f", Flatten{}}, {"data"}, {"x"}),
                                        {"a", Linear{8, Gaussian{}, Constant{1}}},
                                        sequential({{"b", ReLU{}}, {"c", Linear{3}}}, {}, "inner"),
                                        {"d", Dropout{.probability = 0.5f, .seed = 9}},
                                        {"e", Softmax{}}},
                                       {}, "other");
  CHECK(dynamic::same_network(type_config, other));
}

TEST_CASE("the first difference is a sentence") {
  auto const differs = [](std::size_t at, LayerConfig layer, std::string const& words) {
    LayerConfig other = type_config;
    std::get<SequentialConfig>(other.layer_type).layers[at] = std::move(layer);
    CHECK_FALSE(dynamic::same_network(type_config, other));
    INFO(dynamic::difference(type_config, other));
    CHECK(dynamic::difference(type_config, other).find(words) != std::string::npos);
  };
  differs(2, {"head", Linear{4}}, "layer 4 ('head') has output_size 3, not 4");
  differs(2, {"head", TanH{}}, "layer 4 ('head') is linear, not tanh");
  differs(3, {"dropout1", Dropout{.probability = 0.25f, .seed = 9}}, "probability");
  differs(3, {"dropout1", Dropout{.probability = 0.5f, .seed = 8}}, "seed");
  differs(4, sequential({{"softmax1", Softmax{}}, {"more", TanH{}}}, {}, "s"), "6 layers, not 7");
  differs(4, {"c", dynamic::Custom{"snake", {}}}, "is softmax, not snake");
  CHECK(
      dynamic::difference(sequential(layers_of(type_config), Shape{2, 2}), sequential(layers_of(type_config), Shape{4}))
          .find("{2, 2}, not {4}") != std::string::npos);
  LayerConfig const a{"c", dynamic::Custom{"snake", {{"alpha", 0.5}}}},
      b{"c", dynamic::Custom{"snake", {{"alpha", 0.25}}}};
  CHECK(dynamic::same_network(a, a));
  CHECK_FALSE(dynamic::same_network(a, b));
}

TEST_CASE("a config says its input once") {
  LayerConfig config = sequential({{"fc", Linear{3}}});
  CHECK_FALSE(dynamic::declares_input(config));
  dynamic::declare_input(config, Shape{5});
  CHECK(dynamic::declares_input(config));
  LayerConfig const declared = config;
  dynamic::declare_input(config, Shape{6});
  CHECK(config == declared);
  CHECK(dynamic::declares_input(sequential({config})));
  CHECK(Net::from_config(Backend{}, config).input_shape() == Shape{5});
}

TEST_CASE("weights are known without a network") {
  auto const weights = dynamic::weights_of(type_config);
  REQUIRE(weights.size() == 4);
  CHECK(weights[0].name == "linear1-0");
  CHECK(weights[0].shape == Shape{8, 4});
  CHECK(weights[3].name == "head-0-bias");
  CHECK(weights[3].shape == Shape{3});
  CHECK(dynamic::weights_of({"fc", Linear{2}}, Shape{7})[0].shape == Shape{2, 7});
}

TEST_CASE("a static solver becomes its config") {
  Network<Sequential<Linear{3}, LogSoftmax{}>, Shape{4}> net;
  Solver<decltype(net), NegativeLogLikelihood{3}, Sgd{.learning_rate = 0.5f, .momentum = 0.25f},
         SolverOptions{.clip_gradients = 2}>
      solver{net};
  SolverConfig config = dynamic::to_solver_config(solver);
  CHECK(config == SolverConfig{.network = dynamic::to_config(net),
                               .objective = LayerConfig{"loss", NegativeLogLikelihood{3}},
                               .base_lr = 0.5f,
                               .momentum = 0.25f,
                               .clip_gradients = 2.0f});
  solver.minibatch_size = 7;
  solver.optimizer().learning_rate = 0.125f;
  config = dynamic::to_solver_config(solver);
  CHECK(config.minibatch_size == 7);
  CHECK(config.base_lr == 0.125f);
}

TEST_CASE("a function becomes the same config, whether the compiler runs it or the program") {
  LayerConfig const config = dynamic::to_config(shares, Shape{4}, Shape{1});
  CHECK(config == dynamic::to_config<Graph<shares>, Inputs{Shape{4}, Shape{1}}>());
  auto const& container = std::get<SequentialConfig>(config.layer_type);
  CHECK(container.inputs[0].name == "features");
  CHECK(container.inputs[1].name == "data2");
  CHECK(config.outputs == std::vector<std::string>{"scores", "add1"});
  std::vector<std::string> names, weights;
  for (LayerConfig const& layer : container.layers) {
    names.push_back(layer.name);
    for (auto const& weight : layer.params) weights.push_back(layer.name + " " + weight.name);
  }
  CHECK(names == std::vector<std::string>{"linear1", "relu1", "linear2", "linear3", "tied_linear1", "add1", "linear4",
                                          "linear5", "linear6", "scores", "softmax_loss1"});
  CHECK(weights == std::vector<std::string>{"linear1 linear1/shared", "linear2 linear1/shared",
                                            "linear3 linear1/shared", "tied_linear1 linear1/shared",
                                            "tied_linear1 tied_linear1/own1", "linear4 key", "linear6 key"});
  CHECK(dynamic::weights_of(config).size() == 9);
}

TEST_CASE("a layer without a name is not called as another layer is, by the compiler and by the program") {
  static constexpr auto function = graph([](auto x) { return x | Linear{3} | name("relu1") | ReLU{} | Linear{2}; });
  LayerConfig const config = dynamic::to_config(function, Shape{4});
  CHECK(config == dynamic::to_config<Graph<function>, Shape{4}>());
  std::vector<std::string> names;
  for (LayerConfig const& layer : std::get<SequentialConfig>(config.layer_type).layers) names.push_back(layer.name);
  CHECK(names == std::vector<std::string>{"relu1", "relu2", "linear1"});
}

TEST_CASE("what is wrong with a function that is run now is said by type, with the layer's name") {
  auto const refuses = [](auto const& function, auto const* error, std::string const& words) {
    using E = std::remove_cvref_t<decltype(*error)>;
    CHECK(says(error_of<E>([&] { dynamic::to_config(function, Shape{4}); }), words));
  };
  ConfigError const* const config = nullptr;
  ShapeError const* const shape = nullptr;
  refuses(graph([](auto x) {
            x | ReLU{} | Linear{5};
            return x | Linear{3};
          }),
          config,
          "layer 'linear1': a layer has weights, but no output of the network and no loss depends on its output");
  refuses(graph([](auto x) { return x | Linear{3} | name("a") | ReLU{} | name("a"); }), config,
          "two layers have this name");
  refuses(graph([](auto x) { return x | Linear{3} | name("a") | name("b"); }), config, "already has a name");
  refuses(graph([](auto x) {
            return outputs(x | Flatten{}, x | Reshape{{2, 2}});
          }),
          config, "two outputs are the same value, or views of one");
  refuses(graph([](auto x) {
            auto const scores = x | Linear{3} | LogSoftmax{};
            apply(NegativeLogLikelihood{.num_classes = 3}, scores, x | Linear{1});
            return scores;
          }),
          config, "the labels of a loss, or of a statistic, must be an input of the network");
  refuses(graph([](auto x) { return x | shared("w", Linear{4}) | Linear{5} | shared("w", Linear{4}); }), config,
          "layers with the same key need the same parameters");
  refuses(graph([](auto x) { return (x | Linear{3}) + x; }), shape, "joins values of shapes {3} and {4}");
}

TEST_CASE("a shared layer without weights is one") {
  constexpr auto twice = graph([](auto x) {
    Handle activation{ReLU{}};
    return x | activation | Linear{3} | activation | shared("t", TanH{}) | shared("t", TanH{});
  });
  LayerConfig const config = dynamic::to_config(twice, Shape{4});
  CHECK(config == dynamic::to_config<Graph<twice>, Shape{4}>());
  CHECK(Net::from_config(Backend{}, config).output_shape() == Shape{3});
}
