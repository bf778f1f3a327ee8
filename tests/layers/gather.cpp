#include "support/layer_laws.hpp"

using namespace coldpress;

namespace {
/// Values at the places of the largest of others.
template <int axis>
constexpr auto between = graph([](auto x) {
  auto const places = x | Linear{28} | Reshape{{7, 4}} | Argmax{.axis = -1};
  return apply(Gather{.axis = axis}, x | Linear{120} | Reshape{{5, 4, 6}}, places) | Linear{3};
});
template <int axis>
void check_laws() {
  using Net = Graph<between<axis>>;
  test::Violations violations;
  for (Index const batch : {1, 3, 17}) {
    auto const seed = static_cast<std::uint64_t>(batch);
    if (batch < 17) testing::gradient_law<Net, Shape{5}>(batch, seed, violations);
    if (batch > 1) testing::sample_law<Net, Shape{5}>(batch, seed, violations);
    testing::shape_law<Net, Shape{5}, DefaultBackend>(batch, seed, violations);
    testing::backend_law<Net, Shape{5}, DefaultBackend>("", batch, seed, violations);
    testing::training_law<Net, Shape{5}, MeanSquaredError{}>(batch, seed, violations);
  }
  test::check_none(violations);
}
std::array<Shape, 2> const two{Shape{5, 3}, Shape{2, 2}};
}  // namespace

TEST_CASE("Gather keeps the laws of layers along the first axis") { check_laws<0>(); }
TEST_CASE("Gather keeps the laws of layers along an axis in the middle") { check_laws<1>(); }
TEST_CASE("Gather keeps the laws of layers along the last axis") { check_laws<-1>(); }

TEST_CASE("what is no place becomes NaNs and gives no gradient, and a place named twice adds up its gradients") {
  constexpr auto function = graph([](auto x, auto places) { return apply(Gather{}, x, places); });
  Network<Graph<function>, Inputs{Shape{3, 2}, Shape{5}}> network;
  decltype(network)::TrainingWorkspace workspace;
  std::vector<float> const x{1, 2, 3, 4, 5, 6}, places{2, -1, 2, 0.5f, 3}, dy{1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  auto const y = test::copy_of<float>(network.forward_training(std::tie(x, places), workspace));
  CHECK((y[0] == 5 && y[1] == 6 && y[4] == 5 && y[5] == 6));
  for (std::size_t const i : {2, 3, 6, 7, 8, 9}) CHECK(std::isnan(y[i]));
  CHECK(test::copy_of<float>(network.backward(dy, workspace)) == std::vector<float>{0, 0, 0, 0, 6, 8});
  CHECK(test::copy_of<float>(workspace.input_gradient(1)) == std::vector<float>(5, 0));
}

TEST_CASE("Gather replaces the extent of its axis by the number of places") {
  CHECK(Gather{}.output_shape(Shapes{two.data(), 2}) == Shape{4, 3});
  CHECK(Gather{.axis = -1}.output_shape(Shapes{two.data(), 2}) == Shape{5, 4});
  CHECK_THROWS_WITH(Gather{}.output_shape(Shapes{two.data(), 1}), "gather: takes two inputs, values and places");
  CHECK_THROWS_AS(Gather{.axis = 2}.output_shape(Shapes{two.data(), 2}), ShapeError);
}
