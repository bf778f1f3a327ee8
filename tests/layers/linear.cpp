#include "support/layer_laws.hpp"

using namespace coldpress;

TEST_CASE("Linear keeps the laws of layers") { test::check_layer_laws<Linear{7}>(); }
TEST_CASE("Linear keeps the laws of layers without a bias, and along the last axis") {
  test::check_values_at<Linear{.output_size = 7, .has_bias = false}, Shape{5}>();
  test::check_values_at<Linear{.output_size = 1, .has_bias = false}, Shape{19}>();
  test::check_values_at<Linear{.output_size = 7, .last_axis = true}, Shape{3, 5}>();
  test::check_values_at<Linear{.output_size = 1, .last_axis = true}, Shape{2, 3, 4}>();
  test::check_values_at<Linear{.output_size = 70, .has_bias = false, .last_axis = true}, Shape{6}>();
}

// The vectors of Juice's own tests (juice/src/layers/common/linear.rs).
TEMPLATE_TEST_CASE("Linear gives Juice's values", "", DefaultBackend, Reference<float>, Reference<double>) {
  using T = typename TestType::Scalar;
  Network<Sequential<Linear{3}>, Shape{4}, DynamicBatch, TestType> network;
  network.write_weight(0, std::vector<T>{1, 0, 3, 0, 1.5, 4, 2, 0, 0, 2, 1.5, 4});
  network.write_weight(1, std::vector<T>{-1, 1, 0});
  typename decltype(network)::TrainingWorkspace workspace;
  std::vector<T> const x{1, 2, 3, 4}, dy{-1, T(.5), T(.2)};
  CHECK(test::copy_of<T>(network.forward_training(x, workspace)) == std::vector<T>{9, 16.5, 24.5});
  auto const dx = network.backward(dy, workspace);
  std::vector<double> const wanted{-.25, 2.4, -1.7, .8};
  for (Index i = 0; i < 4; ++i)
    CHECK(static_cast<double>(dx[i]) == Approx(wanted[static_cast<std::size_t>(i)]).epsilon(1e-6));
  CHECK(test::canonical<decltype(network)>(workspace.gradients()) ==
        std::vector<T>{-1, -2, -3, -4, T(.5), 1, T(1.5), 2, T(.2), T(.4), T(.2) * 3, T(.8), -1, T(.5), T(.2)});
}

TEST_CASE("Linear sums its gradients over the batch and takes samples of any shape") {
  Network<Sequential<Linear{1}>, Shape{2, 1, 2}> network;
  network.write_weight(0, std::vector<float>{1, 2, 3, 4});
  decltype(network)::TrainingWorkspace workspace;
  std::vector<float> const x{1, 0, 0, 2, 3, 1, 0, 0};
  CHECK(test::copy_of<float>(network.forward_training(x, workspace)) == std::vector<float>{9, 5});
  network.backward(std::vector<float>{1, 10}, workspace);
  CHECK(test::canonical<decltype(network)>(workspace.gradients()) == std::vector<float>{31, 10, 0, 2, 11});
}

static_assert(Linear{5}.output_shape({3, 2}) == Shape{5});
static_assert(Linear{5}.parameters({3, 2})[0].shape == Shape{5, 6} &&
              Linear{5}.parameters({3, 2})[1].shape == Shape{5});
static_assert(Linear{5}.flops({3, 2}) == 60);

TEST_CASE("a stream of Linear along the last axis has the bits of the whole sequence") {
  constexpr Linear wide{.output_size = 150, .last_axis = true}, narrow{.output_size = 3, .last_axis = true};
  using Layers = Sequential<wide, TanH{}, narrow>;
  Network<Layers, Shape{70, 37}, Batch<2>> whole{3};
  Network<Layers, Shape{37}, Batch<2>> steps{3};
  auto const x = test::Random{1}.values<float>(2 * 70 * 37);
  auto const y = test::copy_of<float>(whole.forward(x));
  for (std::size_t t = 0; t < 70; ++t) {
    std::vector<float> in, out;
    for (std::size_t n = 0; n < 2; ++n) {
      auto const at = [&](auto const& all, std::size_t size) {
        return all.begin() + static_cast<std::ptrdiff_t>((n * 70 + t) * size);
      };
      in.insert(in.end(), at(x, 37), at(x, 37) + 37);
      out.insert(out.end(), at(y, 3), at(y, 3) + 3);
    }
    CHECK(test::same_bits(steps.step(in), out));
  }
}

constexpr Linear by_step{.output_size = 5, .has_bias = false, .last_axis = true};
static_assert(by_step.output_shape({3, 2}) == Shape{3, 5} && by_step.output_shape({4, 3, 2}) == Shape{4, 3, 5} &&
              by_step.output_shape({2}) == Shape{5});
static_assert(by_step.parameters({3, 2}).size() == 1 && by_step.parameters({3, 2})[0].shape == Shape{5, 2});
static_assert(by_step.flops({3, 2}) == 60);
