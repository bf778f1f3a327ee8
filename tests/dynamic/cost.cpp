// What planning costs: steps, in proportion to layers, inputs and outputs.
#include <coldpress/dynamic.hpp>
#include <coldpress/dynamic/describe.hpp>

#include "../../src/dynamic/wiring.hpp"

#include "support/catch.hpp"

#include <algorithm>
#include <numeric>
#include <random>

using namespace coldpress;
using namespace coldpress::dynamic;

namespace {

std::string name(char const* what, int i) { return what + std::to_string(i); }

/// A chain of layers in this order of their numbers.
std::vector<LayerConfig> chain(std::vector<int> const& order) {
  std::vector<LayerConfig> layers;
  for (int i : order) {
    LayerConfig layer{name("layer", i), Linear{2}};
    layer.inputs = {i > 0 ? name("value", i - 1) : "x"}, layer.outputs = {name("value", i)};
    layers.push_back(std::move(layer));
  }
  return layers;
}
std::vector<int> numbers(int count) {
  std::vector<int> all(static_cast<std::size_t>(count));
  std::iota(all.begin(), all.end(), 0);
  return all;
}
Scope outside() {
  Scope scope;
  scope.give("x", {0}, false);
  return scope;
}
LayerConfig network(std::vector<LayerConfig> layers, std::string output) {
  SequentialConfig container;
  container.add_input("x", Shape{2});
  container.layers = std::move(layers);
  LayerConfig config{"network", std::move(container)};
  config.outputs = {std::move(output)};
  return config;
}

}  // namespace

TEST_CASE("layers are put in order in a few steps each, in whatever order they are listed") {
  std::mt19937 random{1};
  for (int count : {10, 100, 1000, 9999}) {
    auto forward = numbers(count), backward = forward, shuffled = forward;
    std::reverse(backward.begin(), backward.end());
    std::shuffle(shuffled.begin(), shuffled.end(), random);
    for (auto const& listed : {forward, backward, shuffled}) {
      auto const order = order_of(chain(listed), outside(), false);
      std::vector<int> found;
      for (std::size_t i : order.layers) found.push_back(listed[i]);
      CHECK(found == forward);
      CHECK(order.steps <= 4 * static_cast<std::size_t>(count));
    }
  }
}

TEST_CASE("layers of many inputs and outputs are put in order in a few steps for each") {
  for (int count : {1, 40, 1000, 65000}) {
    LayerConfig makes{"makes", Linear{2}}, reads{"reads", Linear{2}}, in_place{"in_place", TanH{}};
    for (int i = 0; i < count; ++i) makes.outputs.push_back(name("value", i));
    reads.inputs = in_place.inputs = in_place.outputs = makes.outputs;
    makes.inputs = {"x"}, reads.outputs = {"y"};
    auto const order = order_of({reads, in_place, makes}, outside(), false);
    CHECK(order.layers == std::vector<std::size_t>{2, 1, 0});
    CHECK(order.steps <= 12 * static_cast<std::size_t>(count) + 12);
  }
}

TEST_CASE("the plan of a chain of layers looks at a few buffers for each") {
  for (int count : {10, 100, 1000, 9999}) {
    auto const description = dynamic::description(network(chain(numbers(count)), name("value", count - 1)));
    CHECK(description.plan.groups == count);
    CHECK(description.plan.visited <= 4 * count);
  }
}

TEST_CASE("a network has 10000 nodes and no more, its inputs among them") {
  CHECK_NOTHROW(dynamic::description(network(chain(numbers(9999)), "value9998")));
  CHECK_NOTHROW(dynamic::description(network(chain(numbers(10000)), "value9999")));
  CHECK_THROWS_AS(dynamic::description(network(chain(numbers(10001)), "value10000")), UnsupportedError);
}
