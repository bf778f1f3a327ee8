// Convolutions of few channels, over random geometries: each sum has the order that it has with any number of channels,
// to the last bit, and nothing else is written.
#include <coldpress/backend/cpu.hpp>
#include <coldpress/layers/convolution.hpp>

#include "support/catch.hpp"
#include "support/random.hpp"

#include <cmath>
#include <limits>
#include <vector>

using namespace coldpress;
using namespace coldpress::test;

namespace {

/// Whether n vectors of steps become planes, and these the steps again.
template <int n>
bool turns_there_and_back() {
  using cpu::lanes;
  float numbers[n * lanes], planes[n * lanes];
  for (int i = 0; i < n * lanes; ++i) numbers[i] = static_cast<float>(i);
  cpu::Vector v[n];
  for (int i = 0; i < n; ++i) v[i] = cpu::load(numbers + i * lanes);
  cpu::deinterleave(v);
  for (int i = 0; i < n; ++i) cpu::store(planes + i * lanes, v[i]);
  bool right = true;
  for (int t = 0; t < lanes; ++t) {
    for (int c = 0; c < n; ++c) right = right && planes[c * lanes + t] == numbers[t * n + c];
  }
  cpu::interleave(v);
  for (int i = 0; i < n; ++i) cpu::store(planes + i * lanes, v[i]);
  for (int i = 0; i < n * lanes; ++i) right = right && planes[i] == numbers[i];
  return right;
}

float add_product(float a, float b, float sum) { return cpu::has_fma ? std::fma(a, b, sum) : sum + a * b; }

/// y[t][k], and dx[t][c] added to `before`, as sums by tap and then by channel or output.
float output(ConvolutionGeometry const& g, float const* x, float const* weight, float const* bias, Index t, Index k) {
  float sum = 0;
  for (Index r = 0; r < g.height.filter; ++r) {
    Index const at = g.height.at(t, r);
    for (Index c = 0; c < g.channels; ++c) {
      float const value = at >= 0 && at < g.height.in ? x[at * g.channels + c] : 0;
      sum = add_product(value, weight[(r * g.channels + c) * cpu::Layout::pitch(g.outputs) + k], sum);
    }
  }
  return bias ? sum + bias[k] : sum;
}
float input_gradient(ConvolutionGeometry const& g, float const* dy, float const* weight, Index t, Index c) {
  float sum = 0;
  for (Index r = 0; r < g.height.filter; ++r) {
    Index const from = t + g.height.padding - r * g.height.dilation, at = from / g.height.stride;
    bool const seen = from >= 0 && from % g.height.stride == 0 && at < g.height.out;
    for (Index k = 0; k < g.outputs; ++k) {
      sum = add_product(seen ? dy[at * g.outputs + k] : 0,
                        weight[(r * g.channels + c) * cpu::Layout::pitch(g.outputs) + k], sum);
    }
  }
  return sum;
}

void check(ConvolutionGeometry const& g, Index batch, bool has_bias, Random& random) {
  INFO(g.height.in << " steps of " << g.channels << " channels, " << g.outputs << " outputs, filter " << g.height.filter
                   << ", stride " << g.height.stride << ", padding " << g.height.padding << ", dilation "
                   << g.height.dilation << ", batch " << batch);
  auto const x = random.values<float>(batch * g.in()), dy = random.values<float>(batch * g.out()),
             weight = random.values<float>(g.terms() * cpu::Layout::pitch(g.outputs)),
             biases = random.values<float>(cpu::Layout::pitch(g.outputs)),
             before = random.values<float>(batch * g.in());
  float const* const bias = has_bias ? biases.data() : nullptr;
  std::vector<float> y(static_cast<std::size_t>(batch * g.out() + 1), 7.25f),
      dx = before, added = before,
      scratch(static_cast<std::size_t>(
                  Cpu::convolution_scratch(g, {.training = true, .input_gradient = true, .adds = true})),
              std::numeric_limits<float>::quiet_NaN());
  dx.push_back(7.25f), added.push_back(7.25f);
  cpu::In const from{x.data(), batch, g.in(), g.in()}, gradient{dy.data(), batch, g.out(), g.out()};
  auto const rows = [&](std::vector<float>& values, Index columns) {
    return cpu::Out{values.data(), batch, columns, columns};
  };
  cpu::convolve_sequences<cpu::SequenceKernels{}>(g, from, weight.data(), bias, rows(y, g.out()),
                                                  PostOps<Chain<>, float>{}, 0, scratch.data());
  cpu::sequence_input_gradient<cpu::SequenceKernels{}>(g, gradient, weight.data(), rows(dx, g.in()),
                                                       Derivative<Chain<>, float>{}, 0, scratch.data());
  Derivative<Chain<>, float, std::true_type> const adding{};
  cpu::sequence_input_gradient<cpu::SequenceKernels{}>(g, gradient, weight.data(), rows(added, g.in()), adding, 0,
                                                       scratch.data());
  Index wrong_outputs = 0, wrong_gradients = 0;
  for (Index n = 0; n < batch; ++n) {
    for (Index i = 0; i < g.out(); ++i) {
      wrong_outputs += y[static_cast<std::size_t>(n * g.out() + i)] !=
                       output(g, from.row(n), weight.data(), bias, i / g.outputs, i % g.outputs);
    }
    for (Index i = 0; i < g.in(); ++i) {
      float const sum = input_gradient(g, gradient.row(n), weight.data(), i / g.channels, i % g.channels);
      auto const at = static_cast<std::size_t>(n * g.in() + i);
      wrong_gradients += dx[at] != sum || added[at] != before[at] + sum;
    }
  }
  CHECK(wrong_outputs == 0);
  CHECK(wrong_gradients == 0);
  CHECK(y.back() == 7.25f);
  CHECK(dx.back() == 7.25f);
  CHECK(added.back() == 7.25f);
}

}  // namespace

TEST_CASE("the values of steps are taken apart into planes and put together again") {
  CHECK(turns_there_and_back<1>());
  CHECK(turns_there_and_back<2>());
  CHECK(turns_there_and_back<3>());
  CHECK(turns_there_and_back<4>());
  CHECK(turns_there_and_back<5>());
  CHECK(turns_there_and_back<6>());
  CHECK(turns_there_and_back<7>());
  CHECK(turns_there_and_back<8>());
}

TEST_CASE("sequences of every small number of channels are summed in order") {
  Random random{41};
  for (Index channels = 1; channels <= 9; ++channels) {
    for (Index outputs = 1; outputs <= 9; ++outputs) {
      Convolution const c{.num_output = outputs, .filter_shape = 1 + (channels + outputs) % 3, .dilation = 2};
      check(c.geometry({140, channels}), 1, outputs % 2 == 0, random);
    }
  }
}

TEST_CASE("sequences of random geometries are summed in order") {
  Random random{42};
  for (std::uint64_t turn = 0; turn < cases(60); ++turn) {
    Convolution const c{.num_output = random.integer(1, 20),
                        .filter_shape = random.integer(1, 5),
                        .stride = turn % 5 == 0 ? 2 : 1,
                        .dilation = random.integer(1, turn % 2 == 0 ? 4 : 40)};
    check(c.geometry({random.integer(1, 300), random.integer(1, 20)}), random.integer(1, 3), turn % 3 == 0, random);
  }
}
