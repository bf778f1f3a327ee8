// What networks gather about themselves, in training steps and when they are evaluated.
#include "support/loss_laws.hpp"

using namespace coldpress;

namespace {

struct Classifier {
  constexpr auto operator()(auto x, auto labels) const {
    auto const scores = x | Linear{5} | TanH{} | Linear{4} | LogSoftmax{} | name("scores");
    apply(Accuracy{}, scores, labels) | name("accuracy");
    apply(Accuracy{.report_error = true}, scores, labels) | name("error");
    apply(NegativeLogLikelihood{4}, scores, labels) | name("loss");
    return scores;
  }
};
/// The same without statistics.
struct Plain {
  constexpr auto operator()(auto x, auto labels) const {
    auto const scores = x | Linear{5} | TanH{} | Linear{4} | LogSoftmax{} | name("scores");
    apply(NegativeLogLikelihood{4}, scores, labels) | name("loss");
    return scores;
  }
};
constexpr auto classifier = graph(Classifier{});
constexpr auto plain = graph(Plain{});
constexpr Inputs in{Shape{3}, Shape{1}};
using Net = Network<Graph<classifier>, in>;

struct Minibatch {
  std::vector<float> x, labels;
  Minibatch(Index batch, std::uint64_t seed) {
    test::Random random{seed};
    x = random.values<float>(batch * 3);
    for (Index i = 0; i < batch; ++i) labels.push_back(static_cast<float>(random.integer(0, 3)));
  }
};

}  // namespace

TEST_CASE("Accuracy counts positions, the first of equal scores, and NaN as the largest") {
  auto const counted = [](Accuracy accuracy, Shape shape, std::vector<double> const& y, std::vector<double> const& t) {
    Shape const shapes[] = {shape, {static_cast<Index>(t.size())}};
    double const* const x[] = {y.data(), t.data()};
    double total[2] = {};
    accuracy.check(shapes);
    accuracy.observe(shapes, x, total);
    CHECK(total[1] == static_cast<double>(t.size()));
    return accuracy.report(total);
  };
  CHECK(counted({}, {3}, {1, 2, 2}, {1}) == 1);
  CHECK(counted({}, {3}, {1, 2, 2}, {2}) == 0);
  CHECK(counted({.report_error = true}, {3}, {1, 2, 2}, {2}) == 1);
  CHECK(counted({}, {3}, {1, std::nan(""), 2}, {1}) == 1);
  CHECK(counted({}, {2, 2}, {1, 5, 2, 4}, {1, 0}) == 1);             // columns {1, 2} and {5, 4}
  CHECK(counted({.axis = 1}, {2, 2}, {1, 5, 4, 2}, {1, 1}) == 0.5);  // rows {1, 5} and {4, 2}
  CHECK_THROWS_AS(counted({}, {3}, {1, 2, 2}, {1, 2}), ShapeError);
}
TEST_CASE("BinaryAccuracy is of values on the same side of the threshold as their targets") {
  Shape const shapes[] = {{4}, {4}};
  std::vector<float> const y{-1, 0.5f, 0.5f, 2}, t{-3, 0.5f, 1, 0};
  float const* const x[] = {y.data(), t.data()};
  auto const counted = [&](BinaryAccuracy accuracy) {
    double total[2] = {};
    accuracy.observe(shapes, x, total);
    return accuracy.report(total);
  };
  CHECK(counted({}) == 0.75);
  CHECK(counted({.threshold = 0.5f}) == 0.5);
  CHECK(counted({.report_error = true}) == 0.25);
  Shape const others[] = {{4}, {3}};
  CHECK_THROWS_AS(BinaryAccuracy{}.check(others), ShapeError);
}

TEST_CASE("evaluate adds up what statistics see and losses are, until a reset") {
  auto net = test::random_network<Net>(7);
  CHECK(std::isnan(net.statistic<"accuracy">()));
  double right = 0, loss = 0, samples = 0;
  for (Index const batch : {5, 1, 30}) {
    Minibatch const data{batch, static_cast<std::uint64_t>(batch)};
    auto const evaluated = test::copy_of<float>(net.evaluate(data.x, data.labels));
    auto const y = net.forward(data.x);
    REQUIRE(test::same_bits(y, evaluated));
    for (Index i = 0; i < batch; ++i) {
      auto const scores = y.sample(i);
      auto const label = static_cast<std::size_t>(data.labels[static_cast<std::size_t>(i)]);
      right += std::max_element(scores.begin(), scores.end()) - scores.begin() == static_cast<std::ptrdiff_t>(label);
      loss -= double{scores[label]};
    }
    samples += static_cast<double>(batch);
    CHECK(net.statistic<"accuracy">() == Approx(right / samples));
    CHECK(net.statistic<"error">() == Approx(1 - right / samples));
    CHECK(net.statistic<"loss">() == Approx(loss / samples).epsilon(1e-5));
  }
  net.reset_statistics();
  CHECK(std::isnan(net.statistic<"loss">()));
}

TEST_CASE("training steps gather statistics of their own, and train to the same bits as without") {
  auto net = test::random_network<Net>(7), copy = net;
  auto other = test::random_network<Network<Graph<plain>, in>>(7);
  auto third = test::random_network<Network<Sequential<Linear{5}, TanH{}, Linear{4}, LogSoftmax{}>, Shape{3}>>(7);
  constexpr Sgd sgd{.learning_rate = 0.1f, .momentum = 0.9f};
  Solver<Net, OwnLosses{}, sgd> solver{net};
  Solver<decltype(other), OwnLosses{}, sgd> without{other};
  Solver<decltype(third), NegativeLogLikelihood{4}, sgd> outside{third};
  double loss = 0, samples = 0;
  for (Index const batch : {8, 1, 20}) {
    Minibatch const data{batch, static_cast<std::uint64_t>(batch)};
    float const mean = solver.train_minibatch(std::tie(data.x, data.labels));
    REQUIRE(mean == without.train_minibatch(std::tie(data.x, data.labels)));
    REQUIRE(mean == outside.train_minibatch(data.x, data.labels));
    loss += double{mean} * static_cast<double>(batch);
    samples += static_cast<double>(batch);
  }
  CHECK(test::same_bits(net.parameters(), other.parameters()));
  CHECK(test::same_bits(net.parameters(), third.parameters()));
  CHECK(solver.statistic<"loss">() == Approx(loss / samples));
  CHECK(solver.statistic<"accuracy">() == Approx(1 - solver.statistic<"error">()));
  CHECK(solver.statistic<"accuracy">() >= 0);
  CHECK(std::isnan(net.statistic<"accuracy">()));
  // In a single step statistics see the outputs before its update.
  Solver<Net, OwnLosses{}, sgd> single{copy};
  Minibatch const data{9, 4};
  copy.evaluate(data.x, data.labels);
  single.train_minibatch(std::tie(data.x, data.labels));
  CHECK(single.statistic<"accuracy">() == copy.statistic<"accuracy">());
  single.reset_statistics();
  CHECK(std::isnan(single.statistic<"accuracy">()));
}

TEST_CASE("labels are of as many classes as the axis that is read has") {
  auto const takes = [](auto const& reader, Shape shape, float label) {
    try {
      check_targets(reader, shape, std::span<float const>{&label, 1});
      return true;
    } catch (DataError const&) {
      return false;
    }
  };
  auto const classes = [&](auto const& reader, Shape shape) {  // by trying
    Index count = 0;
    while (takes(reader, shape, static_cast<float>(count))) ++count;
    return count;
  };
  for (int const axis : {0, 1, 2}) {
    Shape const shape{2, 5, 3};
    CHECK(classes(Accuracy{.axis = axis}, shape) == shape[axis]);
    CHECK(classes(Accuracy{.axis = axis - 3}, shape) == shape[axis]);
    CHECK(classes(SoftmaxLoss{.axis = axis}, shape) == shape[axis]);
    CHECK(classes(MultinomialLogistic{.axis = axis}, shape) == shape[axis]);
  }
}

TEST_CASE("labels that are ignored are accepted, and count in no loss and no accuracy") {
  auto const refusal = [](auto const& reader, std::vector<float> const& labels) -> std::string {
    try {
      check_targets(reader, Shape{3, 2}, std::span{labels});
      return "";
    } catch (DataError const& error) {
      return error.what();
    }
  };
  auto const facts = [](auto const& reader, std::vector<float> const& labels) {
    return ValueFacts::of(std::span{labels}).are_labels_of(reader, Shape{3, 2});
  };
  std::vector<float> const some{0, -100, 2, -100}, two{-100, -1}, other{-1}, voc{255};
  CHECK((refusal(SoftmaxLoss{}, some).empty() && facts(SoftmaxLoss{}, some)));
  CHECK((refusal(MultinomialLogistic{}, some).empty() && facts(MultinomialLogistic{}, some)));
  CHECK((refusal(Accuracy{}, some).empty() && facts(Accuracy{}, some)));
  CHECK((refusal(Accuracy{.ignore_index = -1}, other).empty() && facts(Accuracy{.ignore_index = -1}, other)));
  CHECK(refusal(SoftmaxLoss{.ignore_index = 255}, voc).empty());
  CHECK(refusal(SoftmaxLoss{}, two) ==
        "label 1 of sample 0 is -1; expected a whole number from 0 to 2 or, to be ignored, -100 (samples are counted "
        "from 0)");
  CHECK(!facts(SoftmaxLoss{}, two));
  CHECK(!facts(SoftmaxLoss{}, other));
  CHECK(!facts(Accuracy{.ignore_index = -1}, some));
  CHECK(!facts(NegativeLogLikelihood{6}, some));

  Accuracy const accuracy{};
  Shape const shapes[] = {{3, 2}, {1, 2}};
  std::vector<float> const scores{0, 5, 1, 0, 0, 0}, right{1, -100}, ignored{-100, -100};
  double sums[2] = {};
  auto const observe = [&](std::vector<float> const& labels) {
    float const* const x[] = {scores.data(), labels.data()};
    accuracy.observe(Shapes{shapes, 2}, x, sums);
  };
  observe(ignored);
  CHECK(std::isnan(accuracy.report(sums)));
  observe(right);
  observe(ignored);
  CHECK(sums[1] == 1);
  CHECK(accuracy.report(sums) == 1);
}

TEST_CASE("a label that is no class changes nothing") {
  auto net = test::random_network<Net>(7);
  auto const before = test::copy_of<float>(net.parameters());
  Solver<Net, OwnLosses{}> solver{net};
  for (float const label : {4.0f, -1.0f, 0.5f, 1e30f, std::nanf("")}) {
    Minibatch data{3, 1};
    data.labels[1] = label;
    CHECK_THROWS_AS(solver.train_minibatch(std::tie(data.x, data.labels)), DataError);
    CHECK_THROWS_AS(net.evaluate(data.x, data.labels), DataError);
  }
  CHECK(test::same_bits(before, net.parameters()));
  CHECK(std::isnan(solver.statistic<"loss">()));
  CHECK(std::isnan(net.statistic<"loss">()));
}

namespace {
/// Losses with weights, one of them of hidden values, and a statistic of a value that goes on into a chain.
template <int which>
struct Several {
  constexpr auto operator()(auto x, auto t) const {
    auto const hidden = x | Linear{6};
    apply(BinaryAccuracy{}, hidden, hidden | TanH{}) | name("same side");
    auto const y = hidden | Sigmoid{} | Linear{3} | Sigmoid{};
    apply(SquareLoss{.loss_weight = which != 2 ? 0.5f : 0}, y, t) | name("square");
    apply(GaussianKL{.loss_weight = which != 1 ? 0.25f : 0}, hidden, hidden | Softplus{}) | name("divergence");
    return y;
  }
};
template <int which>
std::vector<double> gradients_of_several() {
  static constexpr auto function = graph(Several<which>{});
  using Whole = Network<Graph<function>, Inputs{Shape{4}, Shape{3}}, DynamicBatch, Reference<double>>;
  auto net = test::random_network<Whole>(3);
  Solver<Whole, OwnLosses{}, Sgd{.learning_rate = 0}, SolverOptions{.keep_gradients = true}> solver{net};
  test::Random random{9};
  auto const x = random.values<double>(5 * 4), t = random.values<double>(5 * 3);
  double const sum = solver.train_minibatch(std::tie(x, t));
  CHECK(sum == Approx(solver.template loss_value<"square">() + solver.template loss_value<"divergence">()));
  CHECK(solver.template statistic<"same side">() == 1);
  return test::copy_of<double>(solver.gradients());
}
}  // namespace

TEST_CASE("several losses with weights add up their gradients") {
  auto const both = gradients_of_several<0>(), first = gradients_of_several<1>(), second = gradients_of_several<2>();
  for (std::size_t i = 0; i < both.size(); ++i) CHECK(both[i] == Approx(first[i] + second[i]).margin(1e-12));
}
