#include "support/loss_laws.hpp"

using namespace coldpress;

namespace {
constexpr double infinity = std::numeric_limits<double>::infinity();

struct Result {
  double value;
  std::vector<double> dy;
};
Result of(CTCLoss const& loss, Shape in, std::vector<double> const& y, std::vector<double> const& labels) {
  Result result{0, std::vector<double>(y.size(), 7)};
  result.value = loss.sample(in, y.data(), labels.data(), result.dy.data(), static_cast<double*>(nullptr));
  return result;
}

/// The same with all steps in memory.
Result plain(Index blank, Shape in, std::vector<double> const& y, std::vector<double> const& labels) {
  auto const steps = static_cast<std::size_t>(in[0]), classes = static_cast<std::size_t>(in[1]);
  std::vector<std::size_t> states{static_cast<std::size_t>(blank)};
  for (double const label : labels) {
    if (label < 0) break;
    states.push_back(static_cast<std::size_t>(label)), states.push_back(states[0]);
  }
  std::size_t const size = states.size();
  auto const add = [](double& sum, double term) {
    double const most = std::max(sum, term);
    if (most > -infinity) sum = most + std::log(std::exp(sum - most) + std::exp(term - most));
  };
  auto const follows = [&](std::size_t from, std::size_t to) {
    return to == from || to == from + 1 || (to == from + 2 && to % 2 == 1 && states[to] != states[from]);
  };
  std::vector before(steps, std::vector(size, -infinity)), after = before;
  for (std::size_t t = 0; t < steps; ++t) {
    for (std::size_t s = 0; s < size; ++s) {
      double& here = before[t][s];
      if (t == 0) here = s < 2 ? 0 : -infinity;
      for (std::size_t from = s < 2 ? 0 : s - 2; t > 0 && from <= s; ++from)
        if (follows(from, s)) add(here, before[t - 1][from]);
      here += y[t * classes + states[s]];
    }
  }
  for (std::size_t t = steps; t-- > 0;) {
    for (std::size_t s = 0; s < size; ++s) {
      if (t + 1 == steps) after[t][s] = s + 2 >= size ? 0 : -infinity;
      for (std::size_t to = s; t + 1 < steps && to < std::min(size, s + 3); ++to)
        if (follows(s, to)) add(after[t][s], after[t + 1][to] + y[(t + 1) * classes + states[to]]);
    }
  }
  double total = -infinity;
  for (std::size_t s = 0; s < size; ++s) add(total, before[0][s] + after[0][s]);
  Result result{-total, std::vector<double>(y.size())};
  for (std::size_t t = 0; t < steps; ++t) {
    for (std::size_t s = 0; s < size; ++s)
      result.dy[t * classes + states[s]] -= std::exp(before[t][s] + after[t][s] - total);
  }
  return result;
}
/// A group of threads that starts with the last.
struct Backwards {
  void each(Index n, auto const& f) const {
    while (n-- > 0) f(n);
  }
};

}  // namespace

TEST_CASE("CTCLoss keeps the laws of losses") {
  static constexpr CTCLoss loss{.labels = 3, .blank = 1, .loss_weight = 0.75f};
  using Tail = Sequential<Linear{21}, Reshape{{7, 3}}, SoftmaxOver{.axis = -1, .logarithm = true}>;
  test::Violations violations;
  test::loss_gradient_law<Tail, Shape{4}, loss>(5, 1, violations);
  for (Index const batch : {1, 2, 13, 32}) {
    test::loss_training_law<Sequential<Linear{35}, TanH{}, Tail{}>, Shape{9}, loss>(batch, 2, violations);
    test::loss_fusion_law<Sequential<Linear{35}, TanH{}, Tail{}>, Shape{9}, loss>(batch, 3, violations);
  }
  test::check_none(violations);
}

TEST_CASE("CTCLoss of long sequences, whose steps are computed again, is what it is with all of them in memory") {
  struct Case {
    Index steps, classes, labels;
  };
  for (auto const [steps, classes, labels] :
       {Case{1, 2, 1}, Case{40, 5, 12}, Case{1500, 3, 3}, Case{700, 4, 100}, Case{600, 30, 255}, Case{255, 300, 255}}) {
    INFO(steps << " steps, " << labels << " labels");
    test::Random random{static_cast<std::uint64_t>(steps)};
    Shape const in{steps, classes};
    std::vector<double> y = random.values<double>(in.size(), -9, 0), t(static_cast<std::size_t>(labels));
    Index previous = 0;
    for (double& label : t) {
      Index const next = steps > 2 * labels ? random.integer(1, classes - 1) : 1 + previous % (classes - 1);
      label = static_cast<double>(previous = next);
    }
    auto const [value, dy] = of({.labels = labels}, in, y, t);
    auto const [expected, gradient] = plain(0, in, y, t);
    CHECK(value == Approx(expected).epsilon(1e-12));
    double worst = 0;
    for (std::size_t i = 0; i < dy.size(); ++i) worst = std::max(worst, std::abs(dy[i] - gradient[i]));
    CHECK(worst < 1e-9);
  }
}

TEST_CASE("threads that share the work of CTCLoss may do it in any order") {
  constexpr Shape in{300, 4};
  constexpr CTCLoss loss{.labels = 60};
  test::Random random{5};
  auto const y = random.values<double>(in.size(), -9, 0);
  auto const t = test::targets_of<loss, double>(random, 1, in);
  auto const [value, dy] = of(loss, in, y, t);
  std::vector<double> memory(CTCLoss::workspace), other(y.size());
  double* const none = nullptr;
  CHECK(loss.sample_by(Backwards{}, memory.data(), in, y.data(), t.data(), other.data(), none) == value);
  CHECK(other == dy);
}

TEST_CASE("labels end at the first -1 or blank, and none at all are blanks in every step") {
  std::vector<double> const y{-1, -2, -3, -0.5, -4, -1, -2, -1, -2};
  Shape const in{3, 3};
  CTCLoss const loss{.labels = 2};
  auto const [one, of_one] = of(loss, in, y, {2, -1});
  CHECK(of(loss, in, y, {2, 0}).value == one);
  CHECK(of(loss, in, y, {2, 0}).dy == of_one);
  CHECK(of({.labels = 1}, in, y, {2}).value == one);
  auto const [none, of_none] = of(loss, in, y, {-1, -1});
  CHECK(none == Approx(1 + 0.5 + 2));
  CHECK(of_none == std::vector<double>{-1, 0, 0, -1, 0, 0, -1, 0, 0});
}

TEST_CASE("labels for which there are too few steps have an infinite loss and no gradient") {
  std::vector<double> const y(8, -1);
  auto const [value, dy] = of({.labels = 4}, {4, 2}, y, {1, 1, 1, -1});
  CHECK(value == infinity);
  CHECK(dy == std::vector<double>(8, 0));
  CHECK(of({.labels = 4}, {4, 2}, y, {1, 1, -1, -1}).value < infinity);
  std::vector<double> wrong = y;
  wrong[3] = std::nan("");
  CHECK(std::isnan(of({.labels = 4}, {4, 2}, wrong, {1, 1, -1, -1}).value));
}

TEST_CASE("CTCLoss is exact where probabilities are far below what a number can be") {
  std::vector<double> y(2 * 400, 0.0);
  for (std::size_t t = 0; t < 400; ++t) y[2 * t + 1] = -200;
  std::vector<double> const labels(100, 1);
  CHECK(of({.labels = 100}, {400, 2}, y, labels).value == Approx(plain(0, {400, 2}, y, labels).value));
  CHECK(of({.labels = 100}, {400, 2}, y, labels).value > 19000);
}

TEST_CASE("CTCLoss says what is wrong with its shapes and labels") {
  CHECK(CTCLoss{.labels = 5}.target_shape({9, 4}) == Shape{5});
  CHECK_THROWS_WITH(CTCLoss{}.target_shape({9}), "ctc_loss: the input must be {steps, classes}");
  CHECK_THROWS_WITH(CTCLoss{.blank = 4}.target_shape({40, 4}), "ctc_loss: blank must be one of the classes");
  CHECK_THROWS_WITH(CTCLoss{.labels = 256}.target_shape({400, 4}), "ctc_loss: labels must be from 1 to 255");
  CHECK_THROWS_WITH(CTCLoss{.labels = 5}.target_shape({4, 4}),
                    "ctc_loss: there must be at least as many steps as labels");
  std::vector<float> const labels{1, 2, -1, 3, 4, 1};
  CHECK_THROWS_WITH(check_targets(CTCLoss{.labels = 3}, Shape{9, 4}, std::span{labels}),
                    "label 1 of sample 1 is 4; expected a whole number from 0 to 3 or, to be ignored, -1 (samples are "
                    "counted from 0)");
}
