#include "support/loss_laws.hpp"

using namespace coldpress;

namespace {
struct Maker {
  static constexpr FocalLoss make(Shape) { return {.loss_weight = 0.75f}; }
};
struct IgnoringMaker {
  static constexpr FocalLoss make(Shape) { return {.gamma = 0.5f, .ignore_index = 0}; }
};
template <class M>
void check_laws() {
  test::Violations violations;
  test::loss_laws_after<M, TanH{}>(std::make_integer_sequence<int, 3>{}, violations);
  test::check_none(violations);
}
template <class Loss>
std::pair<double, std::vector<double>> of(Loss const& loss, std::vector<double> const& y, double label) {
  std::vector<double> dy(y.size());
  double const value =
      loss.sample(Shape{static_cast<Index>(y.size())}, y.data(), &label, dy.data(), static_cast<double*>(nullptr));
  return {value, dy};
}
}  // namespace

TEST_CASE("FocalLoss keeps the laws of losses") { check_laws<Maker>(); }
TEST_CASE("FocalLoss keeps the laws of losses where a class is ignored") { check_laws<IgnoringMaker>(); }

TEST_CASE("FocalLoss is cross entropy without gamma, and less of it the more probable the class is") {
  std::vector<double> const y{0.5, -1, 2};
  for (double const label : {0.0, 1.0, 2.0}) {
    auto const [value, dy] = of(FocalLoss{.gamma = 0, .class_weights = {1, 2, 4}}, y, label);
    auto const [expected, gradient] = of(SoftmaxLoss{.class_weights = {1, 2, 4}}, y, label);
    CHECK(value == Approx(expected));
    for (std::size_t k = 0; k < 3; ++k) CHECK(dy[k] == Approx(gradient[k]));
  }
  CHECK(of(FocalLoss{.gamma = 2}, {0, 0}, 0).first == Approx(std::log(2.0) / 4));
}
TEST_CASE("FocalLoss is finite where the class is certain, and where it is impossible") {
  for (float const gamma : {0.0f, 0.5f, 1.0f, 3.0f}) {
    CHECK(of(FocalLoss{.gamma = gamma}, {1000, 0}, 0) == std::pair{0.0, std::vector<double>{0, 0}});
    auto const [value, dy] = of(FocalLoss{.gamma = gamma}, {1000, 0}, 1);
    CHECK(value == Approx(20 * std::log(10.0)));
    CHECK(dy == std::vector<double>{1, -1});
  }
}
TEST_CASE("FocalLoss refuses a gamma below 0") {
  CHECK_THROWS_WITH(FocalLoss{.gamma = -1}.target_shape({2}),
                    "focal_loss: gamma must be a finite number of at least 0");
  CHECK_THROWS_AS((FocalLoss{.class_weights = {1, 2}}.target_shape({3})), ShapeError);
}
