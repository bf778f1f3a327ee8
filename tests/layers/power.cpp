#include "support/layer_laws.hpp"

using namespace coldpress;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity(),
                not_a_number = std::numeric_limits<float>::quiet_NaN();

using Values = std::vector<float>;

/// y and dy/dx of some values.
template <Power layer>
std::pair<Values, Values> raised(Values x) {
  x.resize(4);
  Network<Sequential<layer>, Shape{4}> network;
  typename decltype(network)::TrainingWorkspace workspace;
  auto const y = test::copy_of<float>(network.forward_training(x, workspace));
  return {y, test::copy_of<float>(network.backward(Values(4, 1.0f), workspace))};
}

}  // namespace

TEST_CASE("a cube keeps the laws of layers") {
  test::check_layer_laws<Power{.power = 3, .scale = 0.5f, .shift = 0.25f}>();
}
TEST_CASE("a power through the logarithm keeps the laws of layers") {
  test::check_layer_laws<Power{.power = 2.3f, .scale = 0.125f, .shift = 1}>();
}

TEST_CASE("powers that are halves of whole numbers are exact, and so are their gradients") {
  CHECK(raised<Power{.power = 1, .scale = 3, .shift = 1}>({2, 0, -1, -4}) ==
        std::pair{Values{7, 1, -2, -11}, Values{3, 3, 3, 3}});
  CHECK(raised<Power{.power = 2}>({3, -3, 0, -0.5f}) == std::pair{Values{9, 9, 0, 0.25f}, Values{6, -6, 0, -1}});
  CHECK(raised<Power{.power = 3, .scale = 2}>({1, -1, 0, 0.5f}) ==
        std::pair{Values{8, -8, 0, 1}, Values{24, 24, 0, 6}});
  CHECK(raised<Power{.power = 0.5f}>({4, 1, 0, 0.25f}) ==
        std::pair{Values{2, 1, 0, 0.5f}, Values{0.25f, 0.5f, infinity, 1}});
  CHECK(raised<Power{.power = -1}>({4, 1, -2, 0.5f}) ==
        std::pair{Values{0.25f, 1, -0.5f, 2}, Values{-0.0625f, -1, -0.25f, -4}});
  CHECK(raised<Power{.power = -0.5f}>({4, 1, 16, 0.25f}) ==
        std::pair{Values{0.5f, 1, 0.25f, 2}, Values{-0.0625f, -0.5f, -0.0078125f, -4}});
  CHECK(raised<Power{.power = 0}>({4, 0, -2, infinity}) == std::pair{Values{1, 1, 1, 1}, Values{0, 0, 0, 0}});
}

TEST_CASE("a negative number has whole powers alone") {
  auto const [fifth, of_fifth] = raised<Power{.power = 5}>({-2, 2, -0.0f, -1});
  for (int i : {0, 1, 2, 3}) {
    float const x[] = {-2, 2, 0, -1}, square = x[i] * x[i];
    CHECK(fifth[static_cast<std::size_t>(i)] == Approx(square * square * x[i]));
    CHECK(of_fifth[static_cast<std::size_t>(i)] == Approx(5 * square * square));
  }
  CHECK(raised<Power{.power = 6}>({-2}).first[0] == Approx(64));
  CHECK(std::isnan(raised<Power{.power = 0.5f}>({-1}).first[0]));
  CHECK(std::isnan(raised<Power{.power = 1.7f}>({-1}).first[0]));
  CHECK(std::isnan(raised<Power{.power = 5}>({not_a_number}).first[0]));
}

TEST_CASE("Power refuses what is no number") {
  for (float const number : {infinity, -infinity, not_a_number}) {
    for (Power const layer : {Power{.power = number}, Power{.scale = number}, Power{.shift = number}})
      CHECK_THROWS_WITH(layer.output_shape({3}), "power: power, scale and shift must be finite numbers");
  }
}
