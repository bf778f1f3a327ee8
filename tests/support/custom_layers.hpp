// Layers as users write them, outside the library's namespace: one of each kind in docs/adding-a-layer.md.
#pragma once

#include <coldpress/coldpress.hpp>

namespace custom_layers {

using coldpress::Extent;
using coldpress::Index;
using coldpress::Math;
using coldpress::Parameter;
using coldpress::Position;
using coldpress::Shape;
using coldpress::Shapes;
using coldpress::Weight;

struct SnakeOp {
  static constexpr bool needs_input = true;
  static constexpr bool heavy = true;
  float frequency;
  template <class T>
  __attribute__((always_inline)) T value(T x, Position) const {
    T const t = Math<T>::tanh(x * frequency);
    return x + t * t;
  }
  template <class T>
  __attribute__((always_inline)) T gradient(T x, T, Position) const {
    T const t = Math<T>::tanh(x * frequency);
    return 1 + 2 * frequency * t * (1 - t * t);
  }
};
/// A pointwise layer.
struct Snake {
  static constexpr std::string_view name = "snake";
  float frequency = 1;
  constexpr Shape output_shape(Shape in) const { return in; }
  constexpr SnakeOp op(std::uint64_t) const { return {frequency}; }
  bool operator==(Snake const&) const = default;
};

struct JitterOp {
  static constexpr bool needs_input = false, heavy = true;
  std::uint64_t key;
  std::uint32_t threshold;
  template <class T>
  __attribute__((always_inline)) T value(T x, Position at) const {
    return x + (Math<T>::random(key, at) < threshold ? T{} + 1 : T{});
  }
  template <class T>
  __attribute__((always_inline)) T gradient(T, T, Position) const {
    return T{} + 1;
  }
};
/// A pointwise layer with random numbers, which adds one to randomly chosen values.
struct Jitter {
  static constexpr std::string_view name = "jitter";
  float probability = 0.5f;
  std::uint64_t seed = 7;
  constexpr Shape output_shape(Shape in) const { return in; }
  constexpr JitterOp op(std::uint64_t key) const {
    return {key, static_cast<std::uint32_t>(static_cast<double>(probability) * 0x1p32)};
  }
  bool operator==(Jitter const&) const = default;
};

/// A view: all values as one column.
struct Column {
  static constexpr std::string_view name = "column";
  static constexpr coldpress::Capabilities capabilities{.is_view = true};
  constexpr Shape output_shape(Shape in) const { return {in.size(), 1}; }
  bool operator==(Column const&) const = default;
};

/// A join whose derivatives read its operands: a sigmoid(b) ...
struct GateOp {
  static constexpr bool needs_inputs = true, commutes = false;
  template <class T>
  __attribute__((always_inline)) T value(T a, T b) const {
    return a * Math<T>::sigmoid(b);
  }
  template <class T>
  __attribute__((always_inline)) T first(T, T b) const {
    return Math<T>::sigmoid(b);
  }
  template <class T>
  __attribute__((always_inline)) T second(T a, T b) const {
    T const s = Math<T>::sigmoid(b);
    return a * (s * (1 - s));
  }
};
constexpr Shape same_of_two(Shapes in) {
  coldpress::require(in.size() == 2 && in[0] == in[1], "takes two inputs of one shape");
  return in[0];
}
struct Gate {
  static constexpr std::string_view name = "gate";
  constexpr Shape output_shape(Shapes in) const { return same_of_two(in); }
  constexpr GateOp join() const { return {}; }
  bool operator==(Gate const&) const = default;
};
/// ... and one whose derivatives are constants: a + share b.
struct BlendOp {
  static constexpr bool needs_inputs = false, commutes = false;
  float share;
  template <class T>
  __attribute__((always_inline)) constexpr T value(T a, T b) const {
    return a + b * share;
  }
  template <class T>
  __attribute__((always_inline)) constexpr T first(T, T) const {
    return T{} + 1;
  }
  template <class T>
  __attribute__((always_inline)) constexpr T second(T, T) const {
    return T{} + share;
  }
};
struct Blend {
  static constexpr std::string_view name = "blend";
  float share = 1;
  constexpr Shape output_shape(Shapes in) const { return same_of_two(in); }
  constexpr BlendOp join() const { return {share}; }
  bool operator==(Blend const&) const = default;
};

/// A layer in plain loops that know nothing of fusion or padding: the values of a sample in reverse order.
struct Reverse {
  static constexpr std::string_view name = "reverse";
  static constexpr coldpress::Capabilities capabilities{.backward_reads_input = false, .backward_reads_output = false};
  constexpr Shape output_shape(Shape in) const { return in; }
  void forward(auto const&, auto const& pass) const { reverse(pass.x, pass.y); }
  void backward_input(auto const&, auto const& pass) const { reverse(pass.dy, pass.dx); }
  static void reverse(auto from, auto to) {
    for (Index i = 0; i < from.rows; ++i) {
      for (Index c = 0; c < from.columns; ++c) to.row(i)[c] = from.row(i)[from.columns - 1 - c];
    }
  }
  bool operator==(Reverse const&) const = default;
};

/// A layer with parameters and scratch, in plain loops: y = gain x, with one gain per feature.
struct Gains {
  static constexpr std::string_view name = "gains";
  static constexpr coldpress::Capabilities capabilities{.backward_reads_input = true, .backward_reads_output = false};
  Weight gain = {};
  constexpr Shape output_shape(Shape in) const { return in; }
  constexpr auto parameters(Shape in) const {
    Index const n = in.size();
    return std::array{Parameter{"gain", "-0", {n}, coldpress::Constant{1}, n, n}.with(gain)};
  }
  template <class Backend>
  constexpr Index scratch(Shape in, Extent extent) const {
    return extent.training ? in.size() : 0;
  }
  void forward(auto const&, auto const& pass) const {
    for (Index i = 0; i < pass.y.rows; ++i) {
      for (Index c = 0; c < pass.y.columns; ++c) pass.y.row(i)[c] = pass.p[0][c] * pass.x.row(i)[c];
    }
  }
  void backward_input(auto const&, auto const& pass) const {
    for (Index i = 0; i < pass.dx.rows; ++i) {
      for (Index c = 0; c < pass.dx.columns; ++c) pass.dx.row(i)[c] = pass.p[0][c] * pass.dy.row(i)[c];
    }
  }
  void backward_parameters(auto const& backend, auto const& pass) const {
    auto* const sum = backend.scratch;
    Index const n = pass.dy.columns;
    for (Index c = 0; c < n; ++c) sum[c] = 0;
    for (Index i = 0; i < pass.dy.rows; ++i) {
      for (Index c = 0; c < n; ++c) sum[c] += pass.x.row(i)[c] * pass.dy.row(i)[c];
    }
    backend.apply_gradient(sum, n, pass.sinks[0]);
  }
  bool operator==(Gains const&) const = default;
};

/// A layer that uses the library's primitives and is fused: y = x Wᵀ.
struct Mixing {
  static constexpr std::string_view name = "mixing";
  static constexpr coldpress::Capabilities capabilities{
      .backward_reads_input = true, .backward_reads_output = false, .fuses = true, .adds = true};
  Index units = 4;
  Weight weight = {};
  constexpr Shape output_shape(Shape) const {
    coldpress::require(units > 0, "mixing: units must be at least 1");
    return {units};
  }
  constexpr auto parameters(Shape in) const {
    return std::array{
        Parameter{"weight", "-0", {units, in.size()}, coldpress::Glorot{}, in.size(), units}.with(weight)};
  }
  constexpr Index flops(Shape in) const { return 2 * in.size() * units; }
  template <class Backend>
  constexpr Index scratch(Shape in, Extent extent) const {
    return extent.input_gradient ? Backend::product_scratch(in.size(), units) : 0;
  }
  void forward(auto const& backend, auto const& pass) const {
    backend.affine(pass.x, pass.p[0], nullptr, pass.y, pass.post_ops);
  }
  void backward_input(auto const& backend, auto const& pass) const {
    backend.product(pass.dy, pass.p[0], pass.dx, pass.derivative);
  }
  void backward_parameters(auto const& backend, auto const& pass) const {
    backend.weight_gradient(pass.x, pass.dy, pass.sinks[0]);
  }
  bool operator==(Mixing const&) const = default;
};

/// A layer that keeps memory from forward to backward: y = r x with r = 1 / sqrt(1 + Σ x²), one value per sample.
struct Shrink {
  static constexpr std::string_view name = "shrink";
  static constexpr coldpress::Capabilities capabilities{.backward_reads_input = true, .backward_reads_output = false};
  constexpr Shape output_shape(Shape in) const { return in; }
  constexpr Index memory(Shape) const { return 1; }
  void forward(auto const&, auto const& pass) const {
    using T = typename decltype(pass.x)::Scalar;
    for (Index i = 0; i < pass.x.rows; ++i) {
      T sum = 1;
      for (Index c = 0; c < pass.x.columns; ++c) sum += pass.x.row(i)[c] * pass.x.row(i)[c];
      pass.memory[i] = 1 / Math<T>::sqrt(sum);
      for (Index c = 0; c < pass.x.columns; ++c) pass.y.row(i)[c] = pass.memory[i] * pass.x.row(i)[c];
    }
  }
  /// dx = r dy - r³ x (x · dy)
  void backward_input(auto const&, auto const& pass) const {
    using T = typename decltype(pass.dx)::Scalar;
    for (Index i = 0; i < pass.x.rows; ++i) {
      T const r = pass.memory[i];
      T along = 0;
      for (Index c = 0; c < pass.x.columns; ++c) along += pass.x.row(i)[c] * pass.dy.row(i)[c];
      for (Index c = 0; c < pass.x.columns; ++c)
        pass.dx.row(i)[c] = r * pass.dy.row(i)[c] - r * r * r * along * pass.x.row(i)[c];
    }
  }
  bool operator==(Shrink const&) const = default;
};

/// A layer with a state from one call to the next: each step of {steps, features} is replaced by the step before.
struct Delay {
  static constexpr std::string_view name = "delay";
  static constexpr coldpress::Capabilities capabilities{.backward_reads_input = false, .backward_reads_output = false};
  constexpr Shape output_shape(Shape in) const {
    coldpress::require(in.rank() == 2, "delay: takes sequences {steps, features}");
    return in;
  }
  constexpr Index state(Shape in) const { return in[1]; }
  constexpr Index remembers(Shape) const { return 1; }
  void forward(auto const&, auto const& pass) const {
    Index const n = pass.in[1];
    for (Index i = 0; i < pass.x.rows; ++i) {
      for (Index c = 0; c < pass.x.columns; ++c)
        pass.y.row(i)[c] = c >= n ? pass.x.row(i)[c - n] : pass.state ? pass.state[i * n + c] : 0;
      for (Index c = 0; pass.state && c < n; ++c) pass.state[i * n + c] = pass.x.row(i)[pass.x.columns - n + c];
    }
  }
  void backward_input(auto const&, auto const& pass) const {
    Index const n = pass.in[1];
    for (Index i = 0; i < pass.dx.rows; ++i) {
      for (Index c = 0; c < pass.dx.columns; ++c)
        pass.dx.row(i)[c] = c + n < pass.dx.columns ? pass.dy.row(i)[c + n] : 0;
    }
  }
  bool operator==(Delay const&) const = default;
};

/// A source: 0, slope, 2 slope, ...
struct Ramp {
  static constexpr std::string_view name = "ramp";
  Shape shape = {3};
  float slope = 0.5f;
  constexpr Shape output_shape() const { return shape; }
  void forward(auto const&, auto const& pass) const {
    for (Index i = 0; i < pass.y.rows; ++i) {
      for (Index c = 0; c < pass.y.columns; ++c) pass.y.row(i)[c] = static_cast<float>(c) * slope;
    }
  }
  bool operator==(Ramp const&) const = default;
};

/// A layer with several inputs of one size and a parameter: y = Σ (k + 1) x_k + shift.
struct Staircase {
  static constexpr std::string_view name = "staircase";
  static constexpr coldpress::Capabilities capabilities{.backward_reads_input = false, .backward_reads_output = false};
  Weight shift = {};
  constexpr Shape output_shape(Shapes in) const {
    coldpress::require(in.size() > 0, "staircase: takes at least one input");
    for (Shape const& shape : in)
      coldpress::require(shape.size() == in[0].size(), "staircase: the inputs have different sizes");
    return in[0];
  }
  constexpr auto parameters(Shapes in) const {
    Index const n = in[0].size();
    return std::array{Parameter{"shift", "-0", {n}, coldpress::Constant{0}, n, n}.with(shift)};
  }
  void forward(auto const&, auto const& pass) const {
    for (Index i = 0; i < pass.y.rows; ++i) {
      for (Index c = 0; c < pass.y.columns; ++c) {
        auto sum = pass.p[0][c];
        for (std::size_t k = 0; k < pass.in.size(); ++k) sum += static_cast<float>(k + 1) * pass.x[k].row(i)[c];
        pass.y.row(i)[c] = sum;
      }
    }
  }
  void backward_input(auto const&, auto const& pass) const {
    for (std::size_t k = 0; k < pass.in.size(); ++k) {
      for (Index i = 0; pass.dx[k].data && i < pass.dy.rows; ++i) {
        for (Index c = 0; c < pass.dy.columns; ++c)
          pass.dx[k].row(i)[c] = static_cast<float>(k + 1) * pass.dy.row(i)[c];
      }
    }
  }
  void backward_parameters(auto const& backend, auto const& pass) const { backend.sum_rows(pass.dy, pass.sinks[0]); }
  bool operator==(Staircase const&) const = default;
};

}  // namespace custom_layers

COLDPRESS_FIELDS(custom_layers::Snake, frequency);
COLDPRESS_FIELDS(custom_layers::Jitter, probability, seed);
COLDPRESS_FIELDS(custom_layers::Column);
COLDPRESS_FIELDS(custom_layers::Gate);
COLDPRESS_FIELDS(custom_layers::Blend, share);
COLDPRESS_FIELDS(custom_layers::Reverse);
COLDPRESS_FIELDS(custom_layers::Gains, gain);
COLDPRESS_FIELDS(custom_layers::Mixing, units, weight);
COLDPRESS_FIELDS(custom_layers::Shrink);
COLDPRESS_FIELDS(custom_layers::Delay);
COLDPRESS_FIELDS(custom_layers::Ramp, shape, slope);
COLDPRESS_FIELDS(custom_layers::Staircase, shift);
