// Blocks: their shapes and parameters are those of the papers, and they learn.
#include <coldpress/coldpress.hpp>

#include "support/catch.hpp"
#include "support/layer_laws.hpp"

using namespace coldpress;

namespace {

constexpr auto unet = graph([](auto x) { return blocks::unet(x, 4, 2) | Convolution{1, 1}; });
constexpr auto mobile = graph([](auto x) { return blocks::depthwise_separable(x, 8, 2); });
constexpr auto plain_mobile = graph([](auto x) { return blocks::depthwise_separable(x, 8, 1, false); });
constexpr auto residual = graph([](auto x) { return blocks::basic_residual(blocks::basic_residual(x, 8, 2), 8); });
constexpr auto wavenet = graph([](auto x) {
  auto const one = blocks::wavenet_layer(x, 1), two = blocks::wavenet_layer(one.next(), 2);
  return one.skip(3) + two.skip(3);
});
template <auto function, Shape in>
using Of = Network<Graph<function>, in>;

/// The number of weights, and the number of values in them.
template <class Net>
constexpr Index values() {
  Index all = 0;
  for (int i = 0; i < Net::weight_count; ++i) all += Net::weight_shape(i).size();
  return all;
}
constexpr Index convolution(Index in, Index out, Index taps) { return out * (in * taps + 1); }
constexpr Index normalization(Index channels) { return 4 * channels; }  // with the running statistics

template <class Net>
void check_learns() {
  Net net{3};
  Solver<Net, MeanSquaredError{.loss_average = Average::values}, Adam{.learning_rate = 0.01f}> solver{net};
  test::Random random{4};
  auto const x = random.values<float>(8 * Net::input_shape.size()),
             t = random.values<float>(8 * Net::output_shape.size());
  float const before = solver.train_minibatch(x, t);
  float after = before;
  for (int step = 0; step < 30; ++step) after = solver.train_minibatch(x, t);
  CHECK((std::isfinite(before) && after < before));
}

}  // namespace

static_assert(Of<unet, Shape{3, 8, 12}>::output_shape == Shape{1, 8, 12});
static_assert(Of<mobile, Shape{3, 8, 9}>::output_shape == Shape{8, 4, 5});
static_assert(Of<residual, Shape{3, 8, 9}>::output_shape == Shape{8, 4, 5});
static_assert(Of<wavenet, Shape{16, 4}>::output_shape == Shape{16, 3});

TEST_CASE("blocks have the weights of their papers") {
  CHECK(values<Of<unet, Shape{3, 8, 8}>>() ==
        convolution(3, 4, 9) + convolution(4, 4, 9) + convolution(4, 8, 9) + convolution(8, 8, 9) +  // down
            convolution(8, 16, 9) + convolution(16, 16, 9) +                                         // below
            8 * (16 * 4 + 1) + convolution(16, 8, 9) + convolution(8, 8, 9) +                        // up
            4 * (8 * 4 + 1) + convolution(8, 4, 9) + convolution(4, 4, 9) + convolution(4, 1, 1));
  CHECK(values<Of<mobile, Shape{3, 8, 8}>>() == 3 * 9 + normalization(3) + 8 * 3 + normalization(8));
  CHECK(values<Of<plain_mobile, Shape{3, 8, 8}>>() == 3 * 10 + 8 * 4);
  CHECK(values<Of<residual, Shape{3, 8, 8}>>() == 8 * 3 * 9 + 3 * 8 * 8 * 9 + 8 * 3 + 5 * normalization(8));
  CHECK(values<Of<wavenet, Shape{16, 4}>>() ==
        2 * (2 * convolution(4, 4, 2) + convolution(4, 3, 1)) + convolution(4, 4, 1));
}
TEST_CASE("blocks learn") {
  check_learns<Of<unet, Shape{2, 8, 8}>>();
  check_learns<Of<mobile, Shape{2, 6, 6}>>();
  check_learns<Of<plain_mobile, Shape{2, 6, 6}>>();
  check_learns<Of<residual, Shape{2, 6, 6}>>();
  check_learns<Of<wavenet, Shape{8, 4}>>();
}
TEST_CASE("a WaveNet streams, with the bits of the whole sequence") {
  auto const whole = test::random_network<Of<wavenet, Shape{12, 4}>>(1);
  auto stepping = test::random_network<Network<Graph<wavenet>, Shape{1, 4}, Batch<1>>>(1);
  auto const x = test::Random{2}.values<float>(12 * 4);
  decltype(whole)::Workspace workspace;
  auto const wanted = test::copy_of<float>(whole.forward(x, workspace));
  std::vector<float> singly;
  for (std::size_t t = 0; t < 12; ++t) {
    auto const y = stepping.step(std::span{x}.subspan(4 * t, 4));
    singly.insert(singly.end(), y.begin(), y.end());
  }
  CHECK(singly == wanted);
}
