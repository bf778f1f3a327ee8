// Convolution over random geometries: the CPU's numbers are the reference's, in memory that nothing else is written to.
#include "support/executors.hpp"
#include "support/matrix.hpp"

#include <coldpress/core/to_string.hpp>
#include <coldpress/layers/convolution.hpp>
#include <coldpress/layers/pooling.hpp>
#include <coldpress/layers/tanh.hpp>

#include <limits>

using namespace coldpress;
using namespace coldpress::test;

namespace {

/// What a backend makes of one convolution, in canonical order.
template <class Backend>
struct Made {
  Doubles y, dx, added, gradient, bias_gradient;

  Made(VolumeGeometry const& g, Shape weights, Index batch, bool padded, std::uint64_t seed,
       [[maybe_unused]] Executor* executor = nullptr) {
    bool const blocks = keeps_blocks<Backend> && g.in_blocks(), in_blocked = blocks && seed / 2 % 2 == 0,
               out_blocked = blocks && seed / 4 % 2 == 0;
    using T = typename Backend::Scalar;
    numbers = Random{seed};
    Backend backend{};
    Index const needed = Backend::convolution_scratch(g, {.training = true, .input_gradient = true, .adds = true});
    std::vector<T> scratch(static_cast<std::size_t>(needed + 16), T(77.25));
    if constexpr (requires { backend.scratch; }) backend.scratch = scratch.data();
    HeapMemory<float> of_workers;
    if constexpr (requires { backend.executor; }) backend.attach(executor, of_workers, needed);
    Index const in = g.in(), out = g.out();
    auto x = Matrix<Backend>::random_values(batch, in, padded, in_blocked),
         dy = Matrix<Backend>::random_values(batch, out, true, out_blocked);
    auto const weight = stored<Backend>(weights, random_doubles(weights.size()));
    auto const bias = stored<Backend>({g.outputs}, random_doubles(g.outputs));
    Matrix<Backend> result{batch, out, padded, out_blocked}, back{batch, in, padded, in_blocked};
    backend.convolve(g, x.rows(), weight.data(), bias.data(), result.rows(), PostOps<Chain<>, T>{}, nullptr);
    backend.convolve_input_gradient(g, dy.rows(), weight.data(), back.rows(), Derivative<Chain<>, T>{});
    auto before = Matrix<Backend>::random_values(batch, in, padded, in_blocked),
         output = Matrix<Backend>::random_values(batch, in, true, in_blocked);
    dx = back.values(), added = before.values();
    if constexpr (adds_in_place<Backend>) {
      Derivative<Chain<TanHOp>, T, std::true_type> adding{};
      adding.output = output.rows().data, adding.output_pitch = output.rows().pitch;
      backend.convolve_input_gradient(g, dy.rows(), weight.data(), before.rows(), adding);
      added = before.values();
      CHECK(before.kept_in());
    } else {
      Doubles const at = output.values();
      for (std::size_t i = 0; i < dx.size(); ++i) added[i] = (added[i] + dx[i]) * (1 - at[i] * at[i]);
    }
    auto sink = stored<Backend>(weights, Doubles(static_cast<std::size_t>(weights.size()), 9.0)), bias_sink = bias;
    GradientSink<T> const to_weights{sink.data()}, to_biases{bias_sink.data()};
    backend.convolve_parameter_gradients(g, x.rows(), dy.rows(), to_weights, &to_biases);
    y = result.values();
    gradient = canonical<Backend>(weights, sink), bias_gradient = canonical<Backend>({g.outputs}, bias_sink);
    CHECK(result.kept_in());
    CHECK(back.kept_in());
    for (std::size_t i = scratch.size() - 16; i < scratch.size(); ++i) CHECK(scratch[i] == T(77.25));
  }
};

std::string text(Convolution const& c, Shape in) {
  return to_string(in) + " to " + std::to_string(c.num_output) + ", filter " + to_string(c.filter_shape) + ", stride " +
         to_string(c.stride) + ", padding " + to_string(c.padding) + ", dilation " + to_string(c.dilation) +
         ", groups " + std::to_string(c.groups);
}

void compare(Convolution const& c, Shape in, Index batch, std::uint64_t seed) {
  INFO(text(c, in) << ", batch " << batch);
  VolumeGeometry const g = c.geometry(in);
  Shape const weights = c.parameters(in)[0].shape;
  Made<Cpu> const fast{g, weights, batch, seed % 2 == 0, seed};
  Made<Reference<double>> const exact{g, weights, batch, seed % 2 == 0, seed};
  check(fast.y, exact.y, g.terms() + 1, 1);
  check(fast.dx, exact.dx, g.group_outputs() * g.taps(), 1);
  check(fast.added, exact.added, g.group_outputs() * g.taps() + 1, 1);
  check(fast.gradient, exact.gradient, batch * g.positions(), 1);
  check(fast.bias_gradient, exact.bias_gradient, batch * g.positions(), 1);
}

/// Several threads compute the same bits.
void compare_divided(Convolution const& c, Shape in, Index batch, std::uint64_t seed) {
  INFO(text(c, in) << ", batch " << batch);
  VolumeGeometry const g = c.geometry(in);
  Shape const weights = c.parameters(in)[0].shape;
  Made<Cpu> const alone{g, weights, batch, false, seed};
  for (auto const& executor : executors()) {
    Made<Cpu> const divided{g, weights, batch, false, seed, executor.get()};
    CHECK(alone.y == divided.y);
    CHECK(alone.dx == divided.dx);
    CHECK(alone.added == divided.added);
    CHECK(alone.gradient == divided.gradient);
    CHECK(alone.bias_gradient == divided.bias_gradient);
  }
}

}  // namespace

TEST_CASE("images of random shapes") {
  Random random{3};
  for (std::uint64_t seed = 0; seed < cases(300); ++seed) {
    Index const groups = random.integer(1, 8) == 1 ? random.integer(2, 3) : 1, channels = groups * random.integer(1, 4);
    Index const r = random.integer(1, 4), s = random.integer(1, 4);
    Convolution const c{.num_output = groups * random.integer(1, seed % 7 == 0 ? 40 : 7),
                        .filter_shape = {r, s},
                        .stride = {random.integer(1, 1 + r), random.integer(1, 1 + s)},
                        .padding = {random.integer(0, r), random.integer(0, s)},
                        .dilation = {random.integer(1, 3), random.integer(1, 2)},
                        .groups = groups};
    Shape const in{channels, random.integer(1, 14) + 3 * (r - 1), random.integer(1, seed % 5 == 0 ? 40 : 14) + 2 * s};
    compare(c, in, seed % 4 == 0 ? random.integer(16, 35) : random.integer(1, 6), seed);
  }
}

TEST_CASE("volumes of random shapes") {
  Random random{7};
  for (std::uint64_t seed = 0; seed < cases(200); ++seed) {
    Index const groups = random.integer(1, 6) == 1 ? random.integer(2, 3) : 1, channels = groups * random.integer(1, 4);
    Index const d = random.integer(1, 4), r = random.integer(1, 4), s = random.integer(1, 3);
    Convolution const c{.num_output = groups * random.integer(1, seed % 7 == 0 ? 20 : 7),
                        .filter_shape = {d, r, s},
                        .stride = {random.integer(1, 1 + d), random.integer(1, 1 + r), random.integer(1, 1 + s)},
                        .padding = {random.integer(0, d + 2), random.integer(0, r), random.integer(0, s)},
                        .dilation = {random.integer(1, 3), random.integer(1, 2), random.integer(1, 3)},
                        .groups = groups};
    if (c.filter_shape.count == 2 || c.stride.count == 2 || c.padding.count == 2 || c.dilation.count == 2) continue;
    Shape const in{channels, random.integer(1, 5) + 3 * (d - 1), random.integer(1, 9) + 2 * (r - 1),
                   random.integer(1, seed % 5 == 0 ? 20 : 9) + 3 * (s - 1)};
    compare(c, in, random.integer(1, seed % 4 == 0 ? 18 : 4), seed);
  }
}

TEST_CASE("images whose channels are convolved alone") {
  Random random{6};
  for (std::uint64_t seed = 0; seed < cases(150); ++seed) {
    Index const channels = random.integer(1, 5), r = random.integer(1, 5), s = random.integer(1, 5);
    Convolution const c{.num_output = channels * random.integer(1, seed % 3 == 0 ? 5 : 1),
                        .filter_shape = {r, s},
                        .stride = {random.integer(1, 3), random.integer(1, 4)},
                        .padding = {random.integer(0, r), random.integer(0, s + 1)},
                        .dilation = {random.integer(1, 3), random.integer(1, 3)},
                        .groups = channels};
    Shape const in{channels, random.integer(1, 20) + 3 * (r - 1), random.integer(1, seed % 5 == 0 ? 70 : 20) + 3 * s};
    compare(c, in, seed % 4 == 0 ? random.integer(16, 20) : random.integer(1, 3), seed);
  }
  compare({.num_output = 2, .filter_shape = 8, .padding = 3, .groups = 2}, {2, 30, 33}, 2, 1);
  constexpr Index far = Index{1} << 30;
  compare({.num_output = 2, .filter_shape = 2, .stride = far, .padding = 1, .groups = 2}, {2, 2, 2}, 2, 3);
  compare({.num_output = 2, .filter_shape = 3, .padding = far, .dilation = far, .groups = 2}, {2, 2, 2}, 1, 4);
  compare({.num_output = 2, .filter_shape = {9, 8}, .padding = 3, .groups = 2}, {2, 30, 33}, 2, 2);
}
TEST_CASE("images of which each position is multiplied alone") {
  for (Shape const in : {Shape{5, 4, 4}, Shape{3, 12, 12}, Shape{40, 16, 16}, Shape{6, 1, 6000}, Shape{70, 3, 496}}) {
    compare({.num_output = 9, .filter_shape = 1}, in, 2, 3);
    if (in[0] % 2 == 0) compare({.num_output = 4, .filter_shape = 1, .groups = 2}, in, 1, 4);
  }
  // As many positions as there are pixels, but others.
  compare({.num_output = 1, .filter_shape = 1, .stride = 2, .padding = 4}, {1, 8, 8}, 2, 5);
  compare({.num_output = 3, .filter_shape = 1, .stride = {2, 1}, .padding = {0, 4}}, {2, 16, 8}, 1, 6);
}

TEST_CASE("images of so many channels that their products are added in parts") {
  compare({.num_output = 14, .filter_shape = 3, .padding = 1}, {75, 14, 14}, 2, 1);
  compare({.num_output = 9, .filter_shape = 3, .stride = 2, .padding = 1}, {50, 15, 13}, 3, 2);
  compare({.num_output = 7, .filter_shape = 3, .padding = 1}, {45, 7, 7}, 7, 3);
  compare({.num_output = 3, .filter_shape = 3, .padding = 1}, {600, 7, 7}, 17, 4);
  compare({.num_output = 5, .filter_shape = 3, .dilation = 2}, {41, 20, 9}, 2, 5);
  compare({.num_output = 8, .filter_shape = 3, .padding = 1, .groups = 2}, {100, 9, 9}, 2, 6);
  compare({.num_output = 4, .filter_shape = 11, .stride = 4}, {5, 40, 40}, 2, 7);
  compare({.num_output = 5, .filter_shape = 1}, {400, 4, 8}, 2, 8);
  compare({.num_output = 5, .filter_shape = 1}, {400, 5, 5}, 3, 9);
  compare({.num_output = 6, .filter_shape = 1, .stride = 2, .groups = 2}, {700, 12, 9}, 2, 10);
}

TEST_CASE("images of so many filters that these are packed") {
  auto const check = [](Convolution const& c, Shape in, Index batch, std::uint64_t seed) {
    CHECK(cpu::Panel{c.geometry(in)}.filters > 0);
    compare(c, in, batch, seed);
  };
  check({.num_output = 70, .filter_shape = 3, .padding = 1}, {26, 13, 12}, 1, 1);
  check({.num_output = 171, .filter_shape = 3, .stride = 2, .padding = 1}, {50, 25, 23}, 2, 2);  // in several parts
  check({.num_output = 131, .filter_shape = 3, .padding = 1}, {33, 7, 7}, 6, 3);  // several images, and one with few
  check({.num_output = 150, .filter_shape = 1}, {80, 12, 14}, 1, 4);              // where they are
  check({.num_output = 135, .filter_shape = {2, 3}, .groups = 3}, {120, 16, 11}, 1, 5);
  check({.num_output = 36, .filter_shape = 17}, {2, 29, 29}, 1, 6);
}

TEST_CASE("images of one position, of more than a panel holds, and the shapes of LeNet") {
  compare({.num_output = 17, .filter_shape = 1}, {1, 1, 1}, 33, 1);
  compare({.num_output = 5, .filter_shape = {3, 4}}, {7, 3, 4}, 70, 2);
  compare({.num_output = 3, .filter_shape = {1, 3}, .padding = {0, 1}}, {1, 1, 5000}, 2, 3);
  compare({.num_output = 2, .filter_shape = 3, .padding = 1}, {1, 90, 80}, 1, 4);
  compare({.num_output = 2, .filter_shape = 3, .stride = 2, .padding = 1}, {1, 190, 81}, 2, 5);
  compare({.num_output = 4, .filter_shape = {700, 1}}, {3, 705, 9}, 2, 6);
  compare({.num_output = 20, .filter_shape = 5}, {1, 28, 28}, 2, 7);
  compare({.num_output = 50, .filter_shape = 5}, {20, 12, 12}, 2, 8);
  compare({.num_output = 50, .filter_shape = 5}, {20, 12, 12}, 35, 8);
  compare({.num_output = 32, .filter_shape = 5, .padding = 2}, {3, 32, 32}, 17, 9);
  compare({.num_output = 6, .filter_shape = 3, .padding = 1}, {5, 60, 61}, 50, 10);
}

TEST_CASE("sequences of random shapes") {
  Random random{4};
  for (std::uint64_t seed = 0; seed < cases(200); ++seed) {
    Index const groups = random.integer(1, 5) == 1 ? 3 : 1;
    Convolution const c{.num_output = groups * random.integer(1, 40),
                        .filter_shape = random.integer(1, 6),
                        .stride = random.integer(1, 3),
                        .dilation = random.integer(1, 4),
                        .groups = groups};
    Index const channels = groups * random.integer(1, 20);
    bool const single = seed % 4 == 0;
    Shape const in = single ? Shape{channels} : Shape{random.integer(1, seed % 9 == 0 ? 1000 : 20), channels};
    Index const batch = random.integer(1, single ? 70 : 5);
    compare(c, in, batch, seed);
    if (seed % 3 == 0) compare_divided(c, in, batch, seed);
  }
}

TEST_CASE("the order of an image's sums does not depend on the batch, nor on blocks") {
  auto const compare_alone = [](Convolution const& c, Shape const& in) {
    INFO(text(c, in));
    ConvolutionGeometry const g = c.geometry(in);
    Shape const weights = c.parameters(in)[0].shape;
    Index const out = g.outputs * g.positions();
    Made<Cpu> const all{g, weights, 21, false, 1};
    Cpu backend;
    std::vector<float> scratch(static_cast<std::size_t>(Cpu::convolution_scratch(g, {false, false})),
                               std::numeric_limits<float>::quiet_NaN());
    backend.scratch = scratch.data();
    numbers = Random{1};
    auto x = Matrix<Cpu>::random_values(21, in.size(), false);
    Matrix<Cpu>::random_values(21, out);
    auto const weight = stored<Cpu>(weights, random_doubles(weights.size()));
    auto const bias = stored<Cpu>({g.outputs}, random_doubles(g.outputs));
    Matrix<Cpu> y{21, out, false};
    for (Index i = 0; i < 21; ++i) {
      backend.convolve(g, Rows<float const>{x.rows().row(i), 1, in.size(), in.size()}, weight.data(), bias.data(),
                       Rows<float>{y.rows().row(i), 1, out, out}, PostOps<Chain<>, float>{}, nullptr);
    }
    CHECK(y.values() == all.y);
  };
  for (Convolution const& c : {Convolution{.num_output = 7, .filter_shape = 3},
                               Convolution{.num_output = 7, .filter_shape = 3, .stride = 2, .padding = 2},
                               Convolution{.num_output = 7, .filter_shape = 1},
                               Convolution{.num_output = 12, .filter_shape = 3, .stride = 2, .padding = 1, .groups = 6},
                               Convolution{.num_output = 6, .filter_shape = 3, .padding = 1, .groups = 6}}) {
    for (Shape const in : {Shape{6, 5, 5}, Shape{6, 17, 20}, Shape{6, 12, 12}}) compare_alone(c, in);
  }
  // Some channels at a time, in blocks and in panels.
  for (Shape const in : {Shape{45, 7, 7}, Shape{45, 17, 20}, Shape{90, 17, 20}})
    compare_alone({.num_output = 7, .filter_shape = 3}, in);
}

TEST_CASE("the order of the sums over a sequence does not depend on its place in the minibatch") {
  // A gradient is summed over all samples, so one sample has to be all that adds to it.
  for (Index const outputs : {8, 16}) {
    Convolution const c{.num_output = outputs, .filter_shape = 3, .dilation = 2};
    Shape const in{1000, 8}, weights = c.parameters(in)[0].shape;
    ConvolutionGeometry const g = c.geometry(in);
    Index const out = c.output_shape(in).size();
    Doubles const of_x = random_doubles(in.size()), of_dy = random_doubles(out);
    Cpu backend;
    std::vector<float> scratch(static_cast<std::size_t>(Cpu::convolution_scratch(g, {true, false})));
    backend.scratch = scratch.data();
    auto const gradients_with_sample = [&](Index place) {
      Matrix<Cpu> x{3, in.size(), false}, dy{3, out, true};
      for (Index i = 0; i < 3; ++i) {
        for (Index j = 0; j < in.size(); ++j) x(i, j) = static_cast<float>(of_x[static_cast<std::size_t>(j)]);
        for (Index j = 0; j < out; ++j)
          dy(i, j) = i == place ? static_cast<float>(of_dy[static_cast<std::size_t>(j)]) : 0.f;
      }
      auto sink = stored<Cpu>(weights, Doubles(static_cast<std::size_t>(weights.size()))),
           bias_sink = stored<Cpu>({outputs}, Doubles(static_cast<std::size_t>(outputs)));
      GradientSink<float> const to_weights{sink.data()}, to_biases{bias_sink.data()};
      backend.convolve_parameter_gradients(g, x.rows(), dy.rows(), to_weights, &to_biases);
      return std::pair{canonical<Cpu>(weights, sink), canonical<Cpu>({outputs}, bias_sink)};
    };
    auto const first = gradients_with_sample(0);
    CHECK(first == gradients_with_sample(1));
    CHECK(first == gradients_with_sample(2));
  }
}

TEST_CASE("the weight gradient of sequences reads nothing beyond the values that it is given") {
  // A ConvolutionTranspose passes what the user gave it in the place of dy.
  for (Index const steps : {1, 2, 63, 65, 193, 385, 1025}) {
    for (Index const outputs : {1, 3, 8, 17}) {
      Index const batch = steps == 1 ? 33 : 2;
      Convolution const c{.num_output = outputs, .filter_shape = steps == 1 ? 1 : 3, .dilation = 2};
      Shape const in{steps == 1 ? 1 : steps + 4, 5}, weights = c.parameters(in)[0].shape;
      INFO(text(c, in) << ", batch " << batch);
      ConvolutionGeometry const g = c.geometry(in);
      auto x = Matrix<Cpu>::random_values(batch, in.size()), dy = Matrix<Cpu>::random_values(batch, g.out());
      Guarded<float> x_alone(static_cast<std::size_t>(batch * in.size())),
          dy_alone(static_cast<std::size_t>(batch * g.out()));
      for (Index i = 0; i < batch; ++i) {
        for (Index j = 0; j < in.size(); ++j) x_alone[static_cast<std::size_t>(i * in.size() + j)] = x(i, j);
        for (Index j = 0; j < g.out(); ++j) dy_alone[static_cast<std::size_t>(i * g.out() + j)] = dy(i, j);
      }
      Cpu backend;
      std::vector<float> scratch(static_cast<std::size_t>(Cpu::convolution_scratch(g, {true, false})));
      backend.scratch = scratch.data();
      auto const gradients = [&](Rows<float const> of_x, Rows<float const> of_dy) {
        auto sink = stored<Cpu>(weights, Doubles(static_cast<std::size_t>(weights.size()))),
             bias_sink = stored<Cpu>({outputs}, Doubles(static_cast<std::size_t>(outputs)));
        GradientSink<float> const to_weights{sink.data()}, to_biases{bias_sink.data()};
        backend.convolve_parameter_gradients(g, of_x, of_dy, to_weights, &to_biases);
        return std::pair{canonical<Cpu>(weights, sink), canonical<Cpu>({outputs}, bias_sink)};
      };
      CHECK(gradients({x_alone.data(), batch, in.size(), in.size()}, {dy_alone.data(), batch, g.out(), g.out()}) ==
            gradients(x.rows(), dy.rows()));
    }
  }
}

TEMPLATE_TEST_CASE("a sequence in parts is the sequence", "", Cpu, Reference<float>) {
  Random random{5};
  for (int turn = 0; turn < 60; ++turn) {
    Index const channels = random.integer(1, 20), steps = random.integer(1, 30), batch = random.integer(1, 3);
    Convolution const c{
        .num_output = random.integer(1, 20), .filter_shape = random.integer(1, 6), .dilation = random.integer(1, 4)};
    INFO(text(c, {steps, channels}) << ", batch " << batch);
    ConvolutionGeometry const whole = c.geometry({steps, channels});
    Shape const weights = c.parameters({steps, channels})[0].shape;
    TestType backend{};
    std::vector<float> scratch(100000);
    if constexpr (requires { backend.scratch; }) backend.scratch = scratch.data();
    auto const weight = stored<TestType>(weights, random_doubles(weights.size()));
    auto x = Matrix<TestType>::random_values(batch, steps * channels, false);
    Matrix<TestType> y{batch, steps * c.num_output, false};
    backend.convolve(whole, x.rows(), weight.data(), nullptr, y.rows(), PostOps<Chain<>, float>{}, nullptr);
    Index const kept = c.state({1, channels});
    CHECK(kept == c.state({steps, channels}));
    std::vector<float> state(static_cast<std::size_t>(batch * kept) + 1);
    state.back() = 3.5f;
    for (Index first = 0, count; first < steps; first += count) {
      count = std::min(steps - first, random.integer(1, 7));
      ConvolutionGeometry const g = c.geometry({count, channels});
      Matrix<TestType> part{batch, count * channels, false}, made{batch, count * c.num_output, false};
      for (Index i = 0; i < batch; ++i) {
        for (Index j = 0; j < count * channels; ++j) part(i, j) = x(i, first * channels + j);
      }
      backend.convolve(g, part.rows(), weight.data(), nullptr, made.rows(), PostOps<Chain<>, float>{}, state.data());
      Doubles wanted;
      for (Index i = 0; i < batch; ++i) {
        for (Index j = 0; j < count * c.num_output; ++j)
          wanted.push_back(static_cast<double>(y(i, first * c.num_output + j)));
      }
      check(made.values(), wanted, whole.terms(), 1);
    }
    CHECK(state.back() == 3.5f);
  }
}

TEST_CASE(
    "a convolution that takes the maxima of its values, or of a function of them, gives the bits of a convolution and "
    "a pooling") {
  Random random{7};
  for (std::uint64_t seed = 0; seed < cases(120); ++seed) {
    Index const groups = seed % 6 == 0 ? 2 : 1;
    Convolution const c{.num_output = groups * random.integer(1, seed % 7 == 0 ? 20 : 7),
                        .filter_shape = {random.integer(1, 3), random.integer(1, 5)},
                        .stride = {random.integer(1, 2), random.integer(1, 2)},
                        .padding = random.integer(0, 2),
                        .groups = groups};
    Shape const in{groups * random.integer(1, 3), random.integer(6, 14), random.integer(6, 14)},
        middle = c.output_shape(in);
    Index const size = random.integer(1, 3);
    Pooling const p{.filter_shape = size,
                    .stride = random.integer(1, 3),
                    .padding = random.integer(0, size - 1),
                    .rounding = random.integer(0, 1) ? Rounding::ceil : Rounding::floor};
    Index const batch = random.integer(1, 50);
    INFO(text(c, in) << ", maxima of " << size << ", batch " << batch << ", seed " << seed);
    if (middle[1] < size || middle[2] < size) continue;
    bool const in_blocks = random.integer(0, 1) == 0, out_blocks = random.integer(0, 1) == 0;
    ConvolutionGeometry const g = c.geometry(in);
    PoolingGeometry const windows = p.geometry(middle);
    Index const out = p.output_shape(middle).size();
    Shape const weights = c.parameters(in)[0].shape;
    numbers = Random{seed};
    auto x = Matrix<Cpu>::random_values(batch, in.size(), false, in_blocks),
         dy = Matrix<Cpu>::random_values(batch, out, true, out_blocks);
    auto const weight = stored<Cpu>(weights, random_doubles(weights.size()));
    auto const bias = stored<Cpu>({g.outputs}, random_doubles(g.outputs));
    auto const made = [&](auto fused, auto const& post_ops) {
      Extent const extent{true, true, batch / block_size, 1, fused ? out : 0};
      std::vector<float> scratch(static_cast<std::size_t>(
          freestanding::max(Cpu::convolution_scratch(g, extent), fused ? 0 : Cpu::pooling_scratch(windows))));
      std::vector<float> places(static_cast<std::size_t>(batch * out));
      Cpu backend;
      backend.scratch = scratch.data();
      Matrix<Cpu> y{batch, out, true, out_blocks}, dx{batch, in.size(), true, in_blocks},
          values{batch, middle.size(), true, in_blocks};
      auto gradient = stored<Cpu>(weights, Doubles(static_cast<std::size_t>(weights.size()), 9.0)), sums = bias;
      GradientSink<float> const sink{gradient.data()}, bias_sink{sums.data()};
      Derivative<Chain<>, float> const derivative{};
      if (fused) {
        fused.places = places.data();
        backend.convolve(g, x.rows(), weight.data(), bias.data(), y.rows(), post_ops, nullptr, fused);
        backend.convolve_input_gradient(g, dy.rows(), weight.data(), dx.rows(), derivative, fused);
        backend.convolve_parameter_gradients(g, x.rows(), dy.rows(), sink, &bias_sink, fused);
      } else {
        backend.convolve(g, x.rows(), weight.data(), bias.data(), values.rows(), post_ops, nullptr);
        backend.pool(windows, values.rows(), y.rows(), PostOps<Chain<>, float>{}, places.data());
        backend.pool_gradient(windows, dy.rows(), places.data(), values.rows(), derivative);
        backend.convolve_input_gradient(g, values.rows(), weight.data(), dx.rows(), derivative);
        backend.convolve_parameter_gradients(g, x.rows(), values.rows(), sink, &bias_sink);
      }
      CHECK(y.kept_in());
      CHECK(dx.kept_in());
      return std::pair{std::vector{y.values(), dx.values(), canonical<Cpu>(weights, gradient)},
                       canonical<Cpu>({g.outputs}, sums)};
    };
    auto const compare = [&](auto last, auto const& post_ops) {
      using Taken = Windows<float, decltype(last)>;
      auto const fused = made(Taken{windows}, post_ops), separate = made(Taken{}, post_ops);
      CHECK(fused.first == separate.first);
      CHECK(fused.second == separate.second);
    };
    compare(std::false_type{}, PostOps<Chain<>, float>{});
    compare(std::true_type{}, PostOps<decltype(chain_of(TanH{}.op(0))), float>{chain_of(TanH{}.op(0))});
  }
}
