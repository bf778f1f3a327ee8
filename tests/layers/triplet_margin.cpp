#include "support/loss_laws.hpp"

using namespace coldpress;

namespace {
constexpr TripletMargin loss{.margin = 0.5f, .loss_weight = 0.75f};

/// Three branches with the same weights.
struct Siamese {
  constexpr auto operator()(auto a, auto p, auto n) const {
    auto const embed = [](auto x) { return x | shared("first", Linear{6}) | TanH{} | shared("last", Linear{3}); };
    auto const anchor = embed(a);
    apply(loss, concat(embed(p), embed(n)), anchor) | name("loss");
    return anchor;
  }
};
}  // namespace

TEST_CASE("TripletMargin keeps the laws of losses") {
  test::Violations violations;
  test::loss_gradient_law<Sequential<Linear{8}, TanH{}>, Shape{3}, loss>(5, 1, violations);
  using Net = Sequential<Linear{35}, TanH{}, Linear{14}>;
  for (Index const batch : {1, 2, 13, 32}) {
    test::loss_training_law<Net, Shape{9}, loss>(batch, 2, violations);
    test::loss_fusion_law<Net, Shape{9}, loss>(batch, 3, violations);
  }
  test::check_none(violations);
}

TEST_CASE("gradients of TripletMargin reach all three branches of a network") {
  static constexpr auto function = graph(Siamese{});
  using Net = Network<Graph<function>, Inputs{Shape{4}, Shape{4}, Shape{4}}, DynamicBatch, Reference<double>>;
  auto network = test::random_network<Net>(3);
  Solver<Net, OwnLosses{}, Sgd{.learning_rate = 0}, SolverOptions{.keep_gradients = true}> solver{network};
  test::Random random{4};
  auto const a = random.values<double>(20), p = random.values<double>(20), n = random.values<double>(20);
  auto const objective = [&] { return 5 * static_cast<double>(solver.train_minibatch(std::tie(a, p, n))); };
  REQUIRE(objective() > 0);
  auto const gradients = test::copy_of<double>(solver.gradients());
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    double& value = network.parameters()[i];
    double const middle = value;
    value = middle + 1e-6;
    double const above = objective();
    value = middle - 1e-6;
    double const below = objective();
    value = middle;
    CHECK(gradients[i] == Approx((above - below) / 2e-6).margin(1e-6));
  }
}

TEST_CASE("TripletMargin is a difference of distances, and 0 where it is large enough") {
  std::vector<double> const y{3, 4, 0, 1}, near{3, 4, 9, 4}, anchor{0, 0}, same{0, 0, 0, 0};
  std::vector<double> dy(4), dt(2);
  auto const of = [&](std::vector<double> const& x, std::vector<double> const& a) {
    return TripletMargin{.loss_weight = 2}.sample(Shape{4}, x.data(), a.data(), dy.data(), dt.data());
  };
  CHECK(of(y, anchor) == Approx(2 * (5 - 1 + 1)));
  std::vector<double> const to_y{1.2, 1.6, 0, -2}, to_anchor{-1.2, 0.4};
  for (std::size_t i = 0; i < 4; ++i) CHECK(dy[i] == Approx(to_y[i]).margin(1e-12));
  for (std::size_t i = 0; i < 2; ++i) CHECK(dt[i] == Approx(to_anchor[i]));
  CHECK(of(near, {3, 4}) == 0);
  CHECK(dy == std::vector<double>(4, 0));
  CHECK(dt == std::vector<double>(2, 0));
  CHECK(of(same, anchor) == 2);
  CHECK(dy == std::vector<double>(4, 0));
}
TEST_CASE("TripletMargin compares the halves of its first axis with a target of half the size") {
  CHECK(TripletMargin{}.target_shape({6, 2}) == Shape{3, 2});
  CHECK_THROWS_WITH(TripletMargin{}.target_shape({5, 2}),
                    "triplet_margin: the first axis must have an even extent, the positive and then the negative");
  CHECK_THROWS_WITH(TripletMargin{.margin = -1}.target_shape({4}),
                    "triplet_margin: margin must be a finite number of at least 0");
}
