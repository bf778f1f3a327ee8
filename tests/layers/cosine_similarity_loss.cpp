#include "support/loss_laws.hpp"

using namespace coldpress;

namespace {
struct Maker {
  static constexpr CosineSimilarityLoss make(Shape) { return {.loss_weight = 0.75f}; }
};
}  // namespace

TEST_CASE("CosineSimilarityLoss keeps the laws of losses") { test::check_own_loss_laws<Maker, TanH{}, Sigmoid{}>(); }

TEST_CASE("CosineSimilarityLoss depends on directions alone, and on each position alone") {
  constexpr Shape in{2, 3};  // (1, 0) and (2, 0), (0, 1) and (5, 0), (1, 1) and (-3, -3)
  std::vector<double> const y{1, 0, 1, 0, 1, 1}, t{2, 5, -3, 0, 0, -3};
  std::vector<double> dy(6), dt(6);
  CHECK(CosineSimilarityLoss{.loss_weight = 3}.sample(in, y.data(), t.data(), dy.data(), dt.data()) ==
        Approx(0 + 1 + 2));
  std::vector<double> const to_y{0, -1, 0, 0, 0, 0}, to_t{0, 0, 0, 0, -0.2, 0};
  for (std::size_t i = 0; i < 6; ++i) {
    CHECK(dy[i] == Approx(to_y[i]).margin(1e-12));
    CHECK(dt[i] == Approx(to_t[i]).margin(1e-12));
  }
}
TEST_CASE("a vector of zeros has no direction, and no gradient") {
  std::vector<float> const y{0, 0}, t{1, 2};
  std::vector<float> dy(2, 7), dt(2, 7);
  CHECK(CosineSimilarityLoss{}.sample(Shape{2}, y.data(), t.data(), dy.data(), dt.data()) == 1);
  CHECK(dy == std::vector<float>{0, 0});
  CHECK(dt == std::vector<float>{0, 0});
  std::vector<float> const wrong{std::nanf(""), 1};
  CHECK(std::isnan(CosineSimilarityLoss{}.sample(Shape{2}, wrong.data(), t.data(), dy.data(), dt.data())));
  CHECK_THROWS_AS(CosineSimilarityLoss{.axis = 1}.target_shape({3}), ShapeError);
}
