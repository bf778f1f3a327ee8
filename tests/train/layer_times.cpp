#include <coldpress/coldpress.hpp>
#include <coldpress/dynamic/describe.hpp>
#include <coldpress/train.hpp>

#include "train/task.hpp"

namespace coldpress::train {
namespace {

using Times = std::vector<std::optional<GroupTime>>;

/// The time of the group that has the layer; none if there is no such layer.
std::optional<GroupTime> time_of(Description const& plan, Times const& times, std::string_view layer) {
  for (std::size_t i = 0; i < plan.rows.size(); ++i) {
    if (plan.rows[i].name == layer && plan.group_of[i] >= 0) return times[static_cast<std::size_t>(plan.group_of[i])];
  }
  return {};
}

constexpr auto branches = graph([](auto x, auto index) {
  auto a = x | Linear{12} | TanH{} | name("a");
  auto b = x | Linear{12} | name("b");
  auto c = index | Embedding{.vocabulary = 5, .features = 12} | Flatten{} | name("c");
  return (a + b) * c | LayerNormalization{} | name("d") | Linear{3} | Softmax{} | name("e");
});
using Branches = Network<Graph<branches>, Inputs{Shape{4}, Shape{1}}>;

TEST_CASE("every group of a plan has a time, in types and in configs, with branches and several inputs") {
  Branches const net{3};
  auto const model = persist::model_of(net);
  for (Description const& plan : {description(net), dynamic::description(model.config)}) {
    Times const times = group_times(plan, model.config, 7);
    REQUIRE(times.size() == static_cast<std::size_t>(plan.plan.groups));
    for (std::size_t g = 0; g < times.size(); ++g) {
      INFO("group " << g);
      REQUIRE(times[g]);
      CHECK(times[g]->forward > 0);
      REQUIRE(times[g]->backward);
      CHECK(*times[g]->backward > 0);
    }
    for (char const* const layer : {"a", "b", "d", "e"}) {
      INFO(layer);
      CHECK(time_of(plan, times, layer));
    }
  }
}

TEST_CASE("layers without a backward pass have a time forward alone, and those that cannot be made again have none") {
  dynamic::SequentialConfig layers;
  layers.add_input("x", Shape{6});
  layers.add_layer({"first", Linear{5}}).add_layer({"best", Argmax{}});
  dynamic::LayerConfig network{"net", layers};
  Description const plan = dynamic::description(network);
  Times const times = group_times(plan, network, 3);
  REQUIRE(time_of(plan, times, "best"));
  CHECK(time_of(plan, times, "best")->forward > 0);
  CHECK(time_of(plan, times, "first")->backward);

  // A config in which one layer has another name, and one with a layer that refuses its input.
  auto& leaves = std::get<dynamic::SequentialConfig>(network.layer_type).layers;
  leaves[0].name = "other";
  CHECK_FALSE(time_of(plan, group_times(plan, network, 3), "first"));
  CHECK(time_of(plan, group_times(plan, network, 3), "best"));
  leaves[0] = {"first", Reshape{{7}}};
  CHECK_FALSE(time_of(plan, group_times(plan, network, 3), "first"));
}

TEST_CASE("a loss inside the network has no time, since it is no part of the plan for inference") {
  dynamic::SequentialConfig layers;
  layers.add_input("x", Shape{6}).add_input("y", Shape{2});
  layers.add_layer({"fit", Linear{2}});
  layers.layers.back().outputs = {"out"};
  layers.add_layer({"loss", MeanSquaredError{}});
  layers.layers.back().inputs = {"out", "y"};
  dynamic::LayerConfig const network{"net", layers};
  Description const plan = dynamic::description(network);
  Times const times = group_times(plan, network, 3);
  CHECK(time_of(plan, times, "fit"));
  CHECK_FALSE(time_of(plan, times, "loss"));
}

}  // namespace
}  // namespace coldpress::train
