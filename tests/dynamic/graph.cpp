// What is wrong with a config is said by type, with the layer's name; and nothing is allocated for it.
#include "tensors.hpp"

#include <coldpress/dynamic/describe.hpp>
#include <coldpress/dynamic/to_config.hpp>

#include <limits>

namespace {

using namespace coldpress;
using namespace coldpress::test;

/// The config is refused with this type of error, in this layer, with these words; by everything that reads configs, on
/// every backend.
template <class E>
void refuses(LayerConfig const& config, std::string const& layer, std::string const& words,
             std::optional<Shape> input = {}) {
  for (std::string const backend : {"cpu", "cpu:reference"}) {
    Error const error = error_of<E>([&] { Net::from_config(Backend{backend}, config, input); });
    INFO(error.what());
    CHECK(error.layer() == layer);
    CHECK(says(error, words));
  }
  CHECK(error_of<E>([&] { dynamic::describe(config, input); }).layer() == layer);
  CHECK(error_of<E>([&] { dynamic::weights_of(config, input); }).layer() == layer);
}
/// The same for the second of three layers.
template <class E>
void refuses_layer(dynamic::LayerType type, std::string const& words) {
  refuses<E>(sequential({{"first", Linear{4}}, {"second", std::move(type)}, {"third", TanH{}}}, Shape{4}), "second",
             words);
}

constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN(),
                infinity = std::numeric_limits<float>::infinity();
constexpr Index huge = Index{1} << 62, largest = std::numeric_limits<Index>::max(),
                smallest = std::numeric_limits<Index>::min();

}  // namespace

TEST_CASE("wiring that means nothing is refused") {
  LayerConfig const a{"a", Linear{4}}, b{"b", TanH{}}, c{"c", Linear{2}};
  auto const network = [](std::vector<LayerConfig> layers) { return sequential(std::move(layers), Shape{4}); };
  refuses<ConfigError>(network({wired(a, {"nowhere"}, {})}), "a", "'nowhere' is made by no layer");
  refuses<ConfigError>(network({wired(a, {"data"}, {"x"}), wired(b, {"y"}, {}), c}), "b", "'y' is made by no layer");
  refuses<ConfigError>(network({wired(a, {"z"}, {"x"}), wired(b, {"x"}, {"y"}), wired(c, {"y"}, {"z"})}), "network",
                       "a cycle: 'a' needs 'c', which needs 'b', which needs what 'a' makes");
  refuses<ConfigError>(network({wired(a, {"x"}, {"x"}), b}), "a", "'x' is made by no layer");
  refuses<ConfigError>(network({wired(a, {"data"}, {"x"}), wired(c, {"data"}, {"y"})}), "a",
                       "a layer has weights, but no output of the network and no loss depends on its output");
  refuses<ConfigError>(network({wired(a, {"data"}, {"x"}), wired(b, {"x"}, {"y"}), wired(c, {"y"}, {"x"})}), "c",
                       "'x' is made twice");
  refuses<ConfigError>(network({wired(a, {}, {"data"})}), "a", "'data' is made twice");
  refuses<ConfigError>(network({wired(a, {"data", "data"}, {})}), "a", "one input");
  refuses<ConfigError>(network({wired(a, {"data"}, {"x", "y"})}), "a", "one output");
  LayerConfig two_outputs = network({a, wired(b, {}, {"x"})});
  two_outputs.outputs = {"x", "y"};
  refuses<ConfigError>(two_outputs, "network", "output 'y' is made by none");
  two_outputs.outputs = {"x", "x"};
  refuses<ConfigError>(two_outputs, "b", "the same value");  // b made it
  for (std::size_t entries : {std::size_t{2}, std::size_t{3}}) {
    LayerConfig down = b;
    down.propagate_down.resize(entries);
    refuses<ConfigError>(network({a, down, c}), "b", "one entry for each input");
  }
  // The same in and around containers.
  LayerConfig const inner = sequential({wired(a, {"in"}, {"x"}), wired(b, {"x"}, {"x"})}, {}, "inner");
  refuses<ConfigError>(network({wired(inner, {"nowhere"}, {"y"}), c}), "inner", "'nowhere' is made by no layer");
  refuses<ConfigError>(network({inner, c}), "a", "'in' is made by no layer");
  LayerConfig two = sequential({a}, Shape{4}, "two");
  std::get<SequentialConfig>(two.layer_type).add_input("more", Shape{4});
  refuses<ConfigError>(network({wired(two, {"data"}, {})}), "two", "takes 2 inputs, but gets 1");
  refuses<ConfigError>(network({two}), "two", "'more' is made by no layer");
  LayerConfig nine = network({a});
  for (int k = 1; k < 9; ++k) std::get<SequentialConfig>(nine.layer_type).add_input("i" + std::to_string(k), Shape{4});
  refuses<UnsupportedError>(nine, "network", "at most 8 inputs");
}

TEST_CASE("names are there, and only once") {
  refuses<ConfigError>(sequential({{"a", Linear{4}}, {"a", TanH{}}}, Shape{4}), "a", "two layers have this name");
  refuses<ConfigError>(sequential({{"a", Linear{4}}, sequential({{"a", TanH{}}}, {})}, Shape{4}), "a",
                       "two layers have this name");
  refuses<ConfigError>(
      sequential({{"a", Linear{4}}, sequential({{"b", TanH{}}, {"a", TanH{}}}, {}, "inner")}, Shape{4}), "a",
      "two layers");
  refuses<ConfigError>(sequential({{"a", Linear{4}}, {"", TanH{}}}, Shape{4}), "network", "a layer must have a name");
}

TEST_CASE("containers are neither empty nor endless") {
  refuses<ConfigError>(sequential({}, Shape{4}), "network", "at least one layer");
  refuses<ConfigError>(sequential({}), "network", "at least one layer");
  refuses<ConfigError>(sequential({{"a", Linear{4}}, sequential({}, {}, "hollow")}, Shape{4}), "hollow",
                       "at least one layer");
  LayerConfig deep{"leaf", TanH{}};
  for (int depth = 1; depth <= 32; ++depth) deep = sequential({deep}, {}, "c" + std::to_string(depth));
  CHECK(Net::from_config(Backend{}, deep, Shape{4}).output_shape() == Shape{4});
  refuses<ConfigError>(sequential({deep}, {}, "c33"), "c1", "more than 32", Shape{4});
  for (int depth = 0; depth < 1000; ++depth) deep = sequential({std::move(deep)}, {}, "more");
  error_of<ConfigError>([&] { Net::from_config(Backend{}, deep, Shape{4}); });
}

TEST_CASE("the input's shape is known and means something") {
  std::vector<LayerConfig> const layers{{"fc", Linear{4}}};
  refuses<ConfigError>(sequential(layers), "network", "does not say the shape of its input");
  refuses<ConfigError>({"fc", Linear{4}}, "fc", "does not say the shape of its input");
  for (Shape const& shape :
       {Shape{}, Shape{-1}, Shape{3, -4}, Shape{3, 0, 5}, Shape{0, 5}, Shape{smallest}, Shape{largest, largest},
        Shape{Index{1} << 41}, Shape{Index{1} << 33, Index{1} << 33}, Shape{2, 2, 2, 2, 2, 2, 2, -2}}) {
    refuses<ShapeError>(sequential(layers, shape), "network", "");
    refuses<ShapeError>(sequential(layers), "network", "", shape);
    refuses<ShapeError>(sequential(layers, Shape{4}), "network", "", shape);
    refuses<ShapeError>(sequential({{"a", TanH{}}, sequential(layers, shape, "inner")}, Shape{4}), "inner", "");
  }
  refuses<ShapeError>(sequential(layers, Shape{4}), "network", "takes samples of shape {4}, not {5}", Shape{5});
  refuses<ShapeError>(sequential({{"a", TanH{}}, sequential(layers, Shape{3}, "inner")}, Shape{4}), "inner",
                      "shape {3}, but gets {4}");
  CHECK(Net::from_config(Backend{}, sequential(layers, Shape{4}), Shape{2, 2}).input_shape() == Shape{4});
}

TEST_CASE("a layer's fields mean something") {
  for (Index size : {Index{0}, Index{-1}, smallest}) refuses_layer<ShapeError>(Linear{size}, "at least 1");
  for (Index size : {huge, largest, Index{1} << 41, (Index{1} << 40) / 4 + 1})
    refuses_layer<ShapeError>(Linear{size}, "2^40");
  for (float p : {1.0f, 1.5f, -0.1f, not_a_number, infinity, -infinity})
    refuses_layer<ShapeError>(Dropout{.probability = p}, "probability");
  for (Shape const& shape : {Shape{5}, Shape{2, 3}, Shape{}, Shape{-4}, Shape{-2, -2}, Shape{0, 4}, Shape{2, 0, 2},
                             Shape{4, 0, 1}, Shape{huge, 4}, Shape{huge, huge}, Shape{smallest}}) {
    refuses_layer<ShapeError>(Reshape{shape}, "");
  }
  refuses_layer<ConfigError>(MeanSquaredError{}, "a loss is the objective");
  refuses_layer<ConfigError>(NegativeLogLikelihood{4}, "a loss is the objective");
  refuses_layer<UnsupportedError>(dynamic::Custom{"snake", {{"alpha", 0.5}}}, "no layer 'snake'");
  refuses<UnsupportedError>({"alone", dynamic::Custom{"snake", {}}}, "alone", "no layer 'snake'", Shape{4});
  std::vector<Filler> const fillers = {Constant{not_a_number},
                                       Constant{infinity},
                                       Gaussian{not_a_number, 1},
                                       Gaussian{0, not_a_number},
                                       Gaussian{0, -1},
                                       {static_cast<Filler::Kind>(77), 0, 0},
                                       {static_cast<Filler::Kind>(-1), 0, 0}};
  for (Filler const& filler : fillers) {
    refuses_layer<ConfigError>(Linear{.output_size = 4, .weight = {filler}}, "filler");
    LayerConfig config{"fc", Linear{4}};
    config.params = {{"", filler}};
    refuses<ConfigError>(config, "fc", "filler", Shape{4});
  }
}

TEST_CASE("params are as many as weights at most") {
  LayerConfig linear{"fc", Linear{4}}, activation{"t", TanH{}};
  linear.params.resize(2);
  Net::from_config(Backend{}, linear, Shape{4});
  linear.params.resize(3);
  refuses<ConfigError>(linear, "fc", "more entries than the layer has weights (2)", Shape{4});
  activation.params.resize(1);
  refuses<ConfigError>(activation, "t", "more entries", Shape{4});
  LayerConfig container = sequential({{"a", TanH{}}}, Shape{4});
  container.params.resize(1);
  refuses<ConfigError>(container, "network", "container");
}

TEST_CASE("no memory is asked for that no machine has") {
  Index const side = Index{1} << 20;
  // Each within 2^40 values, all together not.
  refuses<ShapeError>(
      sequential({{"a", Linear{side}}, {"b", Linear{side - 3}}, {"c", Linear{side}}, {"d", Linear{2}}}, Shape{1}), "c",
      "2^40 parameters");
  refuses<ShapeError>(sequential({{"a", Linear{2}}, {"b", Linear{Index{1} << 39}}}, Shape{1}), "b", "");
  refuses<ShapeError>(sequential({{"a", Linear{huge}}, {"b", Linear{huge}}}, Shape{huge}), "network", "2^40");
}

TEST_CASE("a loss or a statistic alone is no network") {
  LayerConfig statistic{"s", BinaryAccuracy{}}, loss{"l", MeanSquaredError{}};
  statistic.inputs = loss.inputs = {"a", "a"};
  CHECK_THROWS_AS(Net::from_config(Backend{}, statistic, Shape{3}), ConfigError);
  CHECK_THROWS_AS(dynamic::describe(loss, Shape{3}), ConfigError);
}

TEST_CASE("a layer that its input does not fit says what it was given") {
  auto const refused = [](dynamic::LayerType layer, Shape in, std::string const& sentence) {
    INFO(sentence);
    CHECK(says(error_of<ShapeError>([&] {
                 Net::from_config(Backend{}, sequential({{"l", std::move(layer)}}, in));
               }),
               "layer 'l': " + sentence));
  };
  refused(Convolution{.num_output = 4, .filter_shape = 7}, {1, 5, 5},
          "window: the filter must not be larger than the padded input; its input has shape {1, 5, 5}");
  refused(Reshape{{3, 3}}, {2, 4}, "reshape: the shapes must have equally many values; its input has shape {2, 4}");
  refused(Convolution{.num_output = 4, .filter_shape = Index{1} << 20, .dilation = Index{1} << 11}, {4, 5},
          "convolution: filter_shape and dilation must be at least 1, and their product at most 2^30; its input has "
          "shape {4, 5}");
  CHECK_NOTHROW(Net::from_config(
      Backend{}, sequential({{"l", Convolution{.num_output = 1, .filter_shape = 2, .dilation = Index{1} << 25}}},
                            Shape{4, 1})));  // beyond 2^24
}
