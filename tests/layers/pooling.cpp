#include "support/layer_laws.hpp"

using namespace coldpress;

namespace {

template <Layer auto layer, Shape in, class Backend>
void check_values(std::vector<float> const& x, std::vector<float> const& dy, std::vector<float> const& y,
                  std::vector<float> const& dx) {
  Network<Sequential<layer>, in, DynamicBatch, Backend> net;
  typename decltype(net)::TrainingWorkspace workspace;
  CHECK(test::copy_of<float>(net.forward_training(x, workspace)) == y);
  CHECK(test::copy_of<float>(net.backward(dy, workspace)) == dx);
}

}  // namespace

TEST_CASE("Pooling keeps the laws of layers: maxima") {
  test::check_laws_at<Pooling{.filter_shape = {3, 2}, .stride = {2, 3}, .padding = {2, 0}, .rounding = Rounding::ceil},
                      Shape{2, 5, 7}>();
}
TEST_CASE("Pooling keeps the laws of layers: means") {
  test::check_laws_at<Pooling{.mode = PoolingMode::average, .filter_shape = 3, .padding = {1, 2}}, Shape{3, 4, 5}>();
}

// The vectors of Juice's own tests: ones, and one larger value first.
TEMPLATE_TEST_CASE("Pooling gives Juice's values", "", DefaultBackend, Reference<float>) {
  std::vector<float> x(16, 1), y(4, 1), dy(4, 1), dx(16, 0);
  x[0] = 2, y[0] = 2, dy[0] = 2;
  dx[0] = 2, dx[2] = dx[8] = dx[10] = 1;
  check_values<Pooling{.filter_shape = 2, .stride = 2}, Shape{1, 4, 4}, TestType>(x, dy, y, dx);
  x[0] = 5;
  for (float& d : dx) d = 0.25f;
  dx[0] = dx[1] = dx[4] = dx[5] = 0.5f;
  check_values<Pooling{.mode = PoolingMode::average, .filter_shape = 2, .stride = 2}, Shape{1, 4, 4}, TestType>(x, dy,
                                                                                                                y, dx);
}

TEMPLATE_TEST_CASE("a mean is over the values under the window, or over the whole window", "", DefaultBackend,
                   Reference<float>) {
  std::vector<float> const x{4, 8, 12}, dy{1, 1, 1, 1};
  constexpr Pooling under{.mode = PoolingMode::average, .filter_shape = {1, 2}, .padding = {0, 1}};
  check_values<under, Shape{1, 1, 3}, TestType>(x, dy, {4, 6, 10, 12}, {1.5f, 1, 1.5f});
  constexpr Pooling whole{
      .mode = PoolingMode::average, .filter_shape = {1, 2}, .padding = {0, 1}, .count_padding = true};
  check_values<whole, Shape{1, 1, 3}, TestType>(x, dy, {2, 6, 10, 6}, {1, 1, 1});
}

constexpr Pooling three{.filter_shape = 3, .stride = 2, .rounding = Rounding::ceil};
static_assert(three.output_shape({32, 32, 32}) == Shape{32, 16, 16});  // cifar10_quick's: rounded up
static_assert(Pooling{.filter_shape = 3, .stride = 2}.output_shape({32, 32, 32}) == Shape{32, 15, 15});
static_assert(Pooling{.filter_shape = 2, .stride = 2, .padding = 1}.output_shape({4, 4, 4}) ==
              Shape{4, 3, 3});  // Juice's
// Caffe's rule: a last window that would begin beyond the input is left out.
static_assert(Pooling{.filter_shape = 2, .stride = 3, .padding = 1, .rounding = Rounding::ceil}.output_shape({1, 6,
                                                                                                              6}) ==
              Shape{1, 3, 3});
static_assert(Pooling{.filter_shape = 2, .stride = 3, .padding = 1, .rounding = Rounding::ceil}.output_shape({1, 5,
                                                                                                              5}) ==
              Shape{1, 2, 2});
static_assert(Pooling{.filter_shape = 1, .stride = 3, .rounding = Rounding::ceil}.output_shape({1, 5, 5}) ==
              Shape{1, 2, 2});

TEST_CASE("a window that means nothing is refused with a sentence") {
  auto const sentence = [](Pooling const& p, Shape in) -> std::string {
    try {
      p.output_shape(in);
    } catch (ShapeError const& error) {
      return error.sentence();
    }
    return "none";
  };
  CHECK(sentence({.filter_shape = 2}, {1, 4, 4}) == "none");
  CHECK(sentence({.filter_shape = 5}, {1, 4, 4}) == "window: the filter must not be larger than the padded input");
  CHECK(sentence({}, {1, 4, 4}).find("filter_shape") != std::string::npos);
  CHECK(sentence({.filter_shape = 2, .stride = 0}, {1, 4, 4}).find("stride") != std::string::npos);
  CHECK(sentence({.filter_shape = 2, .padding = 2}, {1, 4, 4}).find("less than the filter") != std::string::npos);
  CHECK(sentence({.filter_shape = 2, .padding = -1}, {1, 4, 4}).find("padding") != std::string::npos);
  CHECK(sentence({.filter_shape = 2}, {4, 4}).find("{channels, height, width}") != std::string::npos);
  CHECK(sentence({.filter_shape = {1, 2, 3}}, {1, 4, 4}).find("more numbers") != std::string::npos);
  Index constexpr large = Index{1} << 29;
  CHECK(sentence({.filter_shape = large, .padding = large - 1}, {1, 4, 4}).find("2^") != std::string::npos);
}
