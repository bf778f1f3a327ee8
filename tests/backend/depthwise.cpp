// Depthwise convolutions over random geometries: each output is the sum of its taps in their order, to the last bit,
// and nothing else is read or written.
#include <coldpress/backend/cpu.hpp>
#include <coldpress/core/to_string.hpp>
#include <coldpress/layers/convolution.hpp>

#include "support/catch.hpp"
#include "support/random.hpp"

#include <array>
#include <cmath>
#include <vector>

using namespace coldpress;
using namespace coldpress::test;

namespace {

float expected(ConvolutionGeometry const& g, float const* x, std::vector<float> const& weight, float bias, Index k,
               Index row, Index column) {
  float const* const plane = x + k / g.group_outputs() * g.height.in * g.width.in;
  float sum = 0;
  for (Index r = 0; r < g.height.filter; ++r) {
    for (Index s = 0; s < g.width.filter; ++s) {
      Index const i = g.height.at(row, r), j = g.width.at(column, s);
      bool const inside = i >= 0 && i < g.height.in && j >= 0 && j < g.width.in;
      float const v = inside ? plane[i * g.width.in + j] : 0,
                  w = weight[static_cast<std::size_t>((r * g.width.filter + s) * cpu::Layout::pitch(g.outputs) + k)];
      sum = cpu::has_fma ? std::fma(w, v, sum) : sum + w * v;
    }
  }
  return sum + bias;
}

void check(ConvolutionGeometry const& g, Index batch, bool padded, Random& random) {
  INFO("outputs of a channel " << g.group_outputs() << ", channels " << g.channels << ", " << g.height.in << " x "
                               << g.width.in << ", filter " << g.height.filter << " x " << g.width.filter << ", stride "
                               << g.height.stride << " x " << g.width.stride << ", padding " << g.height.padding
                               << " x " << g.width.padding << ", dilation " << g.width.dilation << ", batch " << batch);
  Index const x_pitch = padded ? padded_pitch(g.in()) : g.in(), y_pitch = padded ? padded_pitch(g.out()) : g.out();
  auto const x = random.values<float>((batch - 1) * x_pitch + g.in()),
             weight = random.values<float>(g.taps() * cpu::Layout::pitch(g.outputs)),
             bias = random.values<float>(cpu::Layout::pitch(g.outputs));
  std::vector<float> y(static_cast<std::size_t>((batch - 1) * y_pitch + g.out()), 7.25f),
      scratch(static_cast<std::size_t>(cpu::DepthwisePlanes::scratch(g)), std::nanf(""));
  cpu::In const from{x.data(), batch, g.in(), x_pitch};
  cpu::Out const to{y.data(), batch, g.out(), y_pitch};
  REQUIRE(cpu::DepthwisePlanes::suit(g));
  cpu::convolve_images(g, from, weight.data(), bias.data(), to, scratch.data());
  Index wrong = 0;
  for (Index n = 0; n < batch; ++n) {
    for (Index k = 0; k < g.outputs; ++k) {
      for (Index p = 0; p < g.positions(); ++p) {
        wrong += to.row(n)[k * g.positions() + p] != expected(g, from.row(n), weight, bias[static_cast<std::size_t>(k)],
                                                              k, p / g.width.out, p % g.width.out);
      }
    }
    for (Index i = g.out(); n + 1 < batch && i < y_pitch; ++i) wrong += to.row(n)[i] != 7.25f;
  }
  CHECK(wrong == 0);
}

ConvolutionGeometry geometry(Index channels, Index each, std::array<Index, 2> in, Index filter,
                             std::array<Index, 2> stride, std::array<Index, 2> padding, Index dilation) {
  return Convolution{.num_output = channels * each,
                     .filter_shape = filter,
                     .stride = {stride[0], stride[1]},
                     .padding = {padding[0], padding[1]},
                     .dilation = dilation,
                     .groups = channels}
      .geometry({channels, in[0], in[1]});
}

}  // namespace

TEST_CASE("depthwise convolutions of all small images sum their taps in order") {
  Random random{31};
  for (Index stride : {1, 2}) {
    for (Index padding : {0, 1, 2, 3}) {
      for (Index height : {1, 2, 3, 7, 16}) {
        for (Index width = 1; width <= 70; width += width < 40 ? 1 : 7) {
          if (height + 2 * padding < 3 || width + 2 * padding < 3) continue;
          auto const g = geometry(2, 1, {height, width}, 3, {stride, stride}, {padding, padding}, 1);
          if (!cpu::DepthwisePlanes::suit(g)) continue;
          CHECK(cpu::DepthwisePlanes::skips_planes(g));
          check(g, 1, false, random);
        }
      }
    }
  }
}

TEST_CASE("depthwise convolutions of random geometries sum their taps in order") {
  Random random{32};
  int with_planes = 0, without = 0;
  for (int n = 0; n < 1500; ++n) {
    Index const filter = random.integer(1, 2) == 1 ? 3 : random.integer(2, 7),
                dilation = random.integer(1, 4) == 1 ? 2 : 1;
    Index const stride = random.integer(1, 3), other = random.integer(1, 4) == 1 ? random.integer(1, 3) : stride;
    Index const extent = (filter - 1) * dilation + 1;
    auto const g = geometry(random.integer(2, 5), random.integer(1, 4),
                            {extent + random.integer(0, 20), extent + random.integer(0, 60)}, filter, {stride, other},
                            {random.integer(0, 3), random.integer(0, 3)}, dilation);
    if (!cpu::DepthwisePlanes::suit(g)) continue;
    ++(cpu::DepthwisePlanes::skips_planes(g) ? without : with_planes);
    check(g, random.integer(1, 3), random.integer(1, 2) == 1, random);
  }
  CHECK(with_planes > 300);
  CHECK(without > 300);
}
