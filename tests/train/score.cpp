// How networks that contain losses and statistics are judged.
#include <coldpress/coldpress.hpp>
#include <coldpress/train.hpp>

#include "support/catch.hpp"

#include <cmath>
#include <string>

namespace coldpress::train {
namespace {

dynamic::LayerConfig layer(std::string name, dynamic::LayerType type, std::vector<std::string> inputs,
                           std::vector<std::string> outputs = {}) {
  dynamic::LayerConfig config{std::move(name), std::move(type)};
  config.inputs = std::move(inputs), config.outputs = std::move(outputs);
  return config;
}
/// A network of layers that read x {2} and t, of which the first input may be alone.
dynamic::Layer network(std::optional<Shape> targets, std::vector<dynamic::LayerConfig> const& layers,
                       std::vector<std::string> const& outputs) {
  dynamic::SequentialConfig net;
  net.add_input("x", {2});
  if (targets) net.add_input("t", *targets);
  for (dynamic::LayerConfig const& one : layers) net.add_layer(one);
  return dynamic::Layer::from_config(dynamic::Backend{}, layer("net", net, {}, outputs));
}
data::Dataset samples(Shape const& targets, std::vector<float> const& values) {
  data::Dataset dataset{.sample_shape = {2}, .target_shape = targets, .targets = values};
  auto const size = static_cast<Index>(values.size()) / std::max<Index>(targets.size(), 1);
  for (Index i = 0; i < 2 * size; ++i) dataset.samples.push_back(std::sin(static_cast<float>(i)));
  return dataset;
}

/// Scores of 3 classes at 2 positions, and a statistic that leaves out some of these.
constexpr SoftmaxLoss positions_loss{.axis = 1, .ignore_index = -1};
constexpr Accuracy right{.axis = 1, .ignore_index = -1};
constexpr auto judged = graph([](auto x, auto t) {
  auto const scores = x | Linear{6} | Reshape{2, 3};
  apply(positions_loss, scores, t);
  apply(right, scores, t) | suggested_name("right");
  return scores;
});

TEST_CASE("a statistic that leaves out positions is that of all samples, whatever the minibatches") {
  std::vector<float> labels;
  for (int i = 0; i < 8; ++i) labels.insert(labels.end(), {i < 4 ? -1.f : 2.f, static_cast<float>(i % 3)});
  data::Dataset const dataset = samples({2, 1}, labels);
  auto const source = data::borrow(dataset);
  auto net =
      network(Shape{2, 1},
              {layer("fc", Linear{6}, {"x"}, {"flat"}), layer("shape", Reshape{Shape{2, 3}}, {"flat"}, {"scores"}),
               layer("loss", positions_loss, {"scores", "t"}), layer("right", right, {"scores", "t"})},
              {"scores"});
  Index hits = 0;
  auto const scores = net.executable().forward(std::vector<Values>{dataset.samples, {}}, dynamic::Mode::inference)[0];
  for (std::size_t i = 0; i < 16; ++i) {
    auto const line = scores.subspan(3 * i, 3);
    hits += labels[i] == static_cast<float>(std::ranges::max_element(line) - line.begin());
  }
  using Net = Network<Graph<judged>, Inputs{Shape{2}, Shape{2, 1}}>;
  Net typed{3};
  Solver<Net, OwnLosses{}, Sgd{}> solver{typed};
  auto const of_type = any_solver(solver);
  std::optional<double> first;
  for (Index const batch : {1, 2, 3, 5, 8, 20}) {
    INFO("minibatches of " << batch);
    Score const score = evaluate(net, {}, *source, batch);
    REQUIRE(score.statistics.size() == 1);
    CHECK(score.statistics[0].first == "right");
    CHECK(score.statistics[0].second == static_cast<double>(hits) / 12);
    Score const typed_score = evaluate(evaluated(*of_type), *source, batch);
    REQUIRE(typed_score.statistics.size() == 1);
    if (!first) first = typed_score.statistics[0].second;
    CHECK(typed_score.statistics[0].second == *first);
  }
}

TEST_CASE("a label is a class of the output if a loss in the network says so") {
  auto const fc = [](char const* name, Index size, char const* output) {
    return layer(name, Linear{size}, {"x"}, {output});
  };
  auto const check = [](dynamic::Layer net, std::vector<float> const& targets, bool labels) {
    data::Dataset const dataset = samples({1}, targets);
    auto const source = data::borrow(dataset);
    CHECK_NOTHROW(check_fits(net, {}, *source, "samples"));
    CHECK(has_labels(net, {}, {1}) == labels);
    CHECK(evaluate(net, {}, *source, 3).accuracy.has_value() == labels);
  };
  SoftmaxLoss const loss{.ignore_index = -1};
  // An ignored label is one that the loss accepts.
  check(network(Shape{1}, {fc("fc", 3, "y"), layer("loss", loss, {"y", "t"})}, {"y"}), {0, -1, 2, 1}, true);
  // A softmax keeps the order.
  check(network(Shape{1}, {fc("fc", 3, "y"), layer("p", Softmax{}, {"y"}, {"p"}), layer("loss", loss, {"y", "t"})},
                {"p"}),
        {0, 1, 2, 1}, true);
  // And so does another shape.
  check(network(Shape{1},
                {fc("fc", 3, "y"), layer("shape", Reshape{Shape{1, 3}}, {"y"}, {"z"}), layer("loss", loss, {"y", "t"})},
                {"z"}),
        {0, 1, 2, 1}, true);
  // A softmax of each value alone does not.
  check(network(Shape{1},
                {fc("fc", 3, "y"), layer("shape", Reshape{Shape{3, 1}}, {"y"}, {"z"}),
                 layer("p", SoftmaxOver{.axis = 1}, {"z"}, {"p"}), layer("loss", loss, {"y", "t"})},
                {"p"}),
        {0, 1, 2, 1}, false);
  // The classes are those of another value, of which there are more.
  check(network(Shape{1}, {fc("code", 4, "code"), fc("fc", 10, "y"), layer("loss", loss, {"y", "t"})}, {"code"}),
        {9, 1, 4, 0}, false);
  // A label of a sequence is no class of the output.
  check(network(Shape{1},
                {fc("fc", 6, "flat"), layer("shape", Reshape{Shape{2, 3}}, {"flat"}, {"y"}),
                 layer("loss", CTCLoss{.labels = 1}, {"y", "t"})},
                {"y"}),
        {1, 2, 1, 2}, false);
  // The targets are values.
  check(network(Shape{1}, {fc("code", 4, "code"), fc("v", 1, "v"), layer("loss", MeanSquaredError{}, {"v", "t"})},
                {"code", "v"}),
        {-1.5f, 0.25f, 3, 7}, false);
}

TEST_CASE("mixup is refused where a loss takes labels, whatever it compares with them") {
  auto const refused = [](dynamic::LayerType const& loss, Index size) {
    auto const net = layer("net",
                           dynamic::SequentialConfig{}
                               .add_input("x", {2})
                               .add_input("t", {1})
                               .add_layer(layer("code", Linear{4}, {"x"}, {"code"}))
                               .add_layer(layer("fc", Linear{size}, {"x"}, {"y"}))
                               .add_layer(layer("loss", loss, {"y", "t"})),
                           {}, {"code"});
    auto solver = dynamic::Solver::from_config(dynamic::Backend{}, {.network = net});
    data::Dataset const dataset = samples({1}, {0, 1, 2, 1});
    auto const source = data::borrow(dataset);
    try {
      Trainer{solver, *source, {.batch = 2, .transforms = {data::Mixup{}}}};
    } catch (ConfigError const&) {
      return true;
    }
    return false;
  };
  CHECK(refused(SoftmaxLoss{}, 10));
  CHECK_FALSE(refused(MeanSquaredError{}, 1));
}

TEST_CASE("statistics of a network are computed beside a loss outside of it") {
  auto net = network({}, {layer("fc", Linear{2}, {"x"}, {"y"}), layer("signs", BinaryAccuracy{}, {"y", "x"})}, {"y"});
  data::Dataset const dataset = samples({2}, {1, 0, 0, 1, 1, 1});
  auto const source = data::borrow(dataset);
  Score const score = evaluate(net, loss_called("mean_squared_error", {2}), *source, 2);
  REQUIRE(score.statistics.size() == 1);
  CHECK(score.statistics[0].first == "signs");
  CHECK(score.loss);
}

TEST_CASE("a statistic reads the targets of a loss outside of the network") {
  auto net = network(Shape{1}, {layer("fc", Linear{3}, {"x"}, {"y"}), layer("right", Accuracy{}, {"y", "t"})}, {"y"});
  data::Dataset const dataset = samples({1}, {0, 2, 2, 1, 0});
  auto const source = data::borrow(dataset);
  Objective const loss = loss_called("softmax_loss", {3});
  CHECK_NOTHROW(check_fits(net, loss, *source, "samples"));
  Score const score = evaluate(net, loss, *source, 2);
  REQUIRE(score.statistics.size() == 1);
  REQUIRE(score.accuracy);
  CHECK(score.statistics[0].second == *score.accuracy);
}

TEST_CASE("a network whose losses read no targets is judged on data without targets") {
  auto net = network({}, {layer("fc", Linear{2}, {"x"}, {"y"}), layer("loss", MeanSquaredError{}, {"y", "x"})}, {"y"});
  data::Dataset dataset{.sample_shape = {2}, .target_shape = {}, .samples = {1, 2, 3, 4, 5, 6}};
  auto const source = data::borrow(dataset);
  CHECK_NOTHROW(check_fits(net, {}, *source, "samples"));
  Score const score = evaluate(net, {}, *source, 2);
  CHECK(score.loss);
  CHECK(!score.accuracy);
  // With another input that belongs to the samples, too.
  auto const joined = network(Shape{1},
                              {layer("both", Concat{}, {"x", "t"}, {"all"}), layer("fc", Linear{2}, {"all"}, {"y"}),
                               layer("loss", MeanSquaredError{}, {"y", "x"})},
                              {"y"});
  CHECK(inputs_of(network_inputs(joined, InputsFor::own_losses), true).empty());
}

TEST_CASE("for its outputs a network needs no mask that only its loss reads") {
  dynamic::SequentialConfig net;
  net.add_input("x", {2}).add_input("t", {3}).add_input("mask", {3});
  net.add_layer(layer("fc", Linear{3}, {"x"}, {"y"})).add_layer(layer("my", Multiply{}, {"y", "mask"}, {"my"}));
  net.add_layer(layer("mt", Multiply{}, {"t", "mask"}, {"mt"})).add_layer(layer("l", MeanSquaredError{}, {"my", "mt"}));
  auto const names = [&](InputsFor purpose) {
    std::string all;
    for (NetworkInput const& input : inputs_of(network_inputs(layer("net", net, {}, {"y"}), purpose), false))
      all += input.name + " ";
    return all;
  };
  CHECK(names(InputsFor::own_losses) == "x mask ");
  CHECK(names(InputsFor::outputs) == "x ");
}

}  // namespace
}  // namespace coldpress::train
