// Network types as configs, and what counts as the same network.
#include "tensors.hpp"

#include <coldpress/dynamic/to_config.hpp>
#include <coldpress/graph/network.hpp>
#include <coldpress/optim/solver.hpp>

namespace {

using namespace coldpress;
using namespace coldpress::test;

using Type = Sequential<Flatten{}, Sequential<Linear{8}, ReLU{}>{}, Named<"head", Linear{3}>{},
                        Dropout{.probability = 0.5f, .seed = 9}, Softmax{}>;
LayerConfig const type_config = dynamic::to_config<Type, Shape{2, 2}>();

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
