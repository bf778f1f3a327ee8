#include "support/loss_laws.hpp"

using namespace coldpress;

namespace {
struct Maker {
  static constexpr SoftmaxLoss make(Shape) { return {.loss_weight = 0.75f}; }
};
struct SmoothMaker {
  static constexpr SoftmaxLoss make(Shape) { return {.label_smoothing = 0.25f}; }
};
struct IgnoringMaker {
  static constexpr SoftmaxLoss make(Shape) { return {.label_smoothing = 0.25f, .ignore_index = 1}; }
};
struct IgnoringLogisticMaker {
  static constexpr MultinomialLogistic make(Shape) { return {.ignore_index = 0}; }
};
struct LogisticMaker {
  static constexpr MultinomialLogistic make(Shape) { return {.loss_weight = 0.75f}; }
};
template <class M>
void check_laws() {
  test::Violations violations;
  test::loss_laws_after<M, Sequential<TanH{}, Softmax{}>{}>(std::make_integer_sequence<int, 3>{}, violations);
  test::check_none(violations);
}
static_assert(SoftmaxLoss{.axis = 0}.target_shape({10, 4, 5}) == Shape{1, 4, 5});
static_assert(SoftmaxLoss{.axis = -1}.classes({10, 4, 5}) == 5);
}  // namespace

TEST_CASE("SoftmaxLoss keeps the laws of losses") { check_laws<Maker>(); }
TEST_CASE("SoftmaxLoss keeps the laws of losses with smoothed labels, too") { check_laws<SmoothMaker>(); }
TEST_CASE("MultinomialLogistic keeps the laws of losses") { check_laws<LogisticMaker>(); }

TEST_CASE("SoftmaxLoss and MultinomialLogistic keep the laws of losses where a class is ignored") {
  check_laws<IgnoringMaker>();
  check_laws<IgnoringLogisticMaker>();
}

TEST_CASE("ignored positions have neither value nor gradient, and are not counted") {
  constexpr Shape in{2, 3};  // two classes at three positions
  std::vector<double> const y{0, 1, 2, 0, 0, 0}, all{1, 0, 1}, last{-100, -100, 1}, none{-100, -100, -100};
  auto const of = [&](auto const& loss, std::vector<double> const& labels) {
    std::vector<double> dy(6, 7);
    double const value = loss.sample(in, y.data(), labels.data(), dy.data(), static_cast<double*>(nullptr));
    return std::pair{value, dy};
  };
  auto const [value, dy] = of(SoftmaxLoss{}, last);
  double const p = 1 / (1 + std::exp(-2.0));
  CHECK(value == Approx(-std::log(1 - p)));
  for (int i : {0, 1, 3, 4}) CHECK(dy[static_cast<std::size_t>(i)] == 0);
  CHECK(dy[2] == Approx(p));
  CHECK(dy[5] == Approx(-p));
  std::pair const nothing{0.0, std::vector<double>(6, 0)};
  CHECK(of(SoftmaxLoss{}, none) == nothing);
  CHECK(of(SoftmaxLoss{.label_smoothing = 0.5f}, none) == nothing);
  CHECK(of(MultinomialLogistic{}, none) == nothing);
  CHECK(of(SoftmaxLoss{.ignore_index = 7}, all) == of(SoftmaxLoss{}, all));
  CHECK(of(SoftmaxLoss{.ignore_index = 0}, all) == of(SoftmaxLoss{}, {1, -100, 1}));
}

TEST_CASE("factors of classes are scaled to a sum of as many, or left alone") {
  std::vector<double> const y{0, 0, 0, 0}, label{2};
  std::vector<double> dy(4);
  double* const none = nullptr;
  auto const value = [&](ClassNormalization normalize) {
    SoftmaxLoss const loss{.class_weights = {1, 2, 4, 1}, .normalize = normalize};
    return loss.sample(Shape{4}, y.data(), label.data(), dy.data(), none);
  };
  CHECK(value(ClassNormalization::none) == Approx(4 * std::log(4.0)));
  CHECK(dy == std::vector<double>{1, 1, -3, 1});
  CHECK(value(ClassNormalization::local) == Approx(2 * std::log(4.0)));
  CHECK(dy == std::vector<double>{0.5, 0.5, -1.5, 0.5});
  CHECK(value(ClassNormalization::global) == Approx(2 * std::log(4.0)));
}
TEST_CASE("wrong factors of classes are errors") {
  CHECK_THROWS_AS((SoftmaxLoss{.class_weights = {1, 2}}.target_shape({3})), ShapeError);
  CHECK_THROWS_AS((SoftmaxLoss{.class_weights = {1, -2}}.target_shape({2})), ShapeError);
  CHECK_THROWS_AS((MultinomialLogistic{.class_weights = {0, 0}}.target_shape({2})), ShapeError);
  CHECK_THROWS_AS((SoftmaxLoss{.axis = 1}.target_shape({2})), ShapeError);
  CHECK_THROWS_WITH((MultinomialLogistic{.ignore_index = 1 << 25}.target_shape({2})),
                    "ignore_index: it must be from -2^24 to 2^24");
  for (float const wrong : {-0.5f, 1.5f, std::numeric_limits<float>::quiet_NaN()})
    CHECK_THROWS_WITH((SoftmaxLoss{.label_smoothing = wrong}.target_shape({2})),
                      "softmax_loss: label_smoothing must be from 0 to 1");
}
TEST_CASE("a probability of 0 has a finite loss") {
  std::vector<float> const p{0, 1}, y{-1000, 0}, label{0};
  std::vector<float> dy(2);
  float* const none = nullptr;
  double const most = 20 * std::log(10.0);
  CHECK(MultinomialLogistic{}.sample(Shape{2}, p.data(), label.data(), dy.data(), none) == Approx(most));
  CHECK(dy == std::vector<float>{-1e20f, 0});
  CHECK(SoftmaxLoss{}.sample(Shape{2}, y.data(), label.data(), dy.data(), none) == Approx(most));
  CHECK(dy == std::vector<float>{-1, 1});
}
