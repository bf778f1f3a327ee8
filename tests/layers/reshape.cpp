#include "support/layer_laws.hpp"

using namespace coldpress;

namespace {
/// Two rows of what there is, so that the laws can give it any shape.
struct Halves {
  static constexpr std::string_view name = "halves";
  static constexpr Capabilities capabilities{.is_view = true};
  constexpr Shape output_shape(Shape in) const { return Reshape{{1, in.size()}}.output_shape(in); }
  bool operator==(Halves const&) const = default;
};
}  // namespace

TEST_CASE("A layer that only reshapes keeps the laws of layers") { test::check_layer_laws<Halves{}>(); }

TEST_CASE("Reshape keeps values and changes the shape") {
  using Net = Sequential<Reshape{{2, 3}}, Reshape{{3, 2}}>;
  Network<Net, Shape{6}> network;
  STATIC_REQUIRE(network.output_shape == Shape{3, 2});
  std::vector<float> const x{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  auto const y = network.forward(x);
  CHECK(y.batch == 2);
  CHECK(test::copy_of<float>(y) == x);
  decltype(network)::TrainingWorkspace workspace;
  network.forward_training(x, workspace);
  CHECK(test::copy_of<float>(network.backward(x, workspace)) == x);
}

TEST_CASE("Reshape refuses a shape of another size") {
  CHECK_THROWS_AS((Reshape{{2, 3}}.output_shape({7})), ShapeError);
  CHECK_THROWS_WITH((Reshape{{2, 3}}.output_shape({7})), "reshape: the shapes must have equally many values");
}
