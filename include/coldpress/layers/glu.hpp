// The layer Glu: gated linear units, also known by their gates as SwiGLU, GEGLU and ReGLU.
#pragma once

#include <coldpress/core/along.hpp>
#include <coldpress/core/each.hpp>
#include <coldpress/core/layer.hpp>
#include <coldpress/core/pass.hpp>
#include <coldpress/layers/gelu.hpp>
#include <coldpress/layers/relu.hpp>
#include <coldpress/layers/sigmoid.hpp>
#include <coldpress/layers/silu.hpp>
#include <coldpress/layers/tanh.hpp>

namespace coldpress {

/// The activation of a gate.
enum class GluGate { sigmoid, tanh, relu, silu, gelu, gelu_approximate };
constexpr auto spellings(GluGate) {
  return std::array<std::string_view, 6>{"sigmoid", "tanh", "relu", "silu", "gelu", "gelu_approximate"};
}

/// y = a gate(b), where a and b are the halves of x along one axis (Dauphin et al. 2016). With GluGate::sigmoid it is
/// PyTorch's GLU; with GluGate::silu, SwiGLU; with GluGate::gelu, GEGLU; and with GluGate::relu, ReGLU (Shazeer 2020).
/// Where the weights of another program have the gate first, exchange the halves of the layer before.
struct Glu {
  static constexpr std::string_view name = "glu";
  GluGate gate = GluGate::sigmoid;
  int axis = -1;

  template <class Needs = Require>
  constexpr Shape output_shape(Shape const& in, Needs require = {}) const {
    require(gate >= GluGate::sigmoid && gate <= GluGate::gelu_approximate, "glu: gate is not one of its type");
    Index const extent = in[axis_of(in, axis, require)];
    require(extent % 2 == 0, "glu: the extent of the axis must be even");
    return require.failed() ? in : with_extent(in, axis, extent / 2);
  }

  constexpr void forward(auto const& backend, auto const& pass) const {
    using T = typename decltype(pass.y)::Scalar;
    Index const half = width(pass.in);
    if constexpr (many_threads<decltype(backend)>) {
      each_part(backend, pass.y, pass.in.size() / 2, [&](Index n, Index j, Index) {
        T const* const a = pass.x.row(n) + j + j / half * half;
        with_gate([&](auto const& op) { pass.y.row(n)[j] = *a * op.value(a[half], Position{}); });
      });
    } else {
      each_line(backend, pass.x, half, [&](Index n, Index line, auto const& by) {
        T const* const a = pass.x.row(n) + 2 * line;
        T* const y = pass.y.row(n) + line;
        activate(by, row<T const>(a + half, half), row(y, half));
        for (Index i = 0; i < half; ++i) y[i] *= a[i];
      });
    }
  }
  /// da = dy gate(b) and db = dy a gate'(b).
  constexpr void backward_input(auto const& backend, auto const& pass) const {
    using T = typename decltype(pass.dx)::Scalar;
    Index const half = width(pass.in);
    if constexpr (many_threads<decltype(backend)>) {
      each_part(backend, pass.dx, pass.in.size() / 2, [&](Index n, Index j, Index) {
        Index const at = j + j / half * half;
        T const* const a = pass.x.row(n) + at;
        T* const da = pass.dx.row(n) + at;
        T const dy = pass.dy.row(n)[j];
        with_gate([&](auto const& op) {
          T const open = op.value(a[half], Position{});
          da[0] = dy * open;
          da[half] = dy * a[0] * op.gradient(a[half], open, Position{});
        });
      });
    } else {
      each_line(backend, pass.dx, half, [&](Index n, Index line, auto const& by) {
        T const *const a = pass.x.row(n) + 2 * line, *const dy = pass.dy.row(n) + line;
        T *const da = pass.dx.row(n) + 2 * line, *const db = da + half;
        activate(by, row<T const>(a + half, half), row(da, half));
        for (Index i = 0; i < half; ++i) db[i] = dy[i] * a[i];
        times_slope(by, row<T const>(a + half, half), row<T const>(da, half), row(db, half));
        for (Index i = 0; i < half; ++i) da[i] *= dy[i];
      });
    }
  }
  static constexpr Capabilities capabilities{
      .backward_reads_input = true, .backward_reads_output = false, .loops = true};
  constexpr InputCapabilities capabilities_for(Shape const& in) const {
    return {.streaming = streams_if(keeps_steps(in, axis))};
  }
  bool operator==(Glu const&) const = default;

 private:
  /// How many values of a are contiguous; those of b follow.
  constexpr Index width(Shape const& in) const {
    Along const along{in, axis};
    return along.extent / 2 * along.inner;
  }
  template <class T>
  static constexpr Rows<T> row(T* values, Index count) {
    return {values, 1, count, count};
  }
  /// f(sample, start of the line in y, worker) for each contiguous line of a gate.
  template <class F>
  static constexpr void each_line(auto const& backend, auto const& samples, Index half, F f) {
    each_sample(backend, samples, [&](Index n, auto const& by) {
      for (Index line = 0; 2 * line < samples.columns; line += half) f(n, line, by);
    });
  }
  /// f(operation of the gate)
  template <class F>
  constexpr void with_gate(F f) const {
    switch (gate) {
      case GluGate::sigmoid:
        return f(Sigmoid{}.op(0));
      case GluGate::tanh:
        return f(TanH{}.op(0));
      case GluGate::relu:
        return f(ReLU{}.op(0));
      case GluGate::silu:
        return f(SiLU{}.op(0));
      case GluGate::gelu:
        return f(GELU{}.op(0));
      case GluGate::gelu_approximate:
        return f(GELU{.approximate = true}.op(0));
    }
  }
  /// y = gate(b)
  template <class T>
  constexpr void activate(auto const& backend, Rows<T const> b, Rows<T> y) const {
    with_gate([&]<class Op>(Op const& op) { backend.map(b, y, PostOps<Chain<Op>, T, NoJoin>{.chain = chain_of(op)}); });
  }
  /// d = d gate'(b), where y is gate(b)
  template <class T>
  constexpr void times_slope(auto const& backend, Rows<T const> b, Rows<T const> y, Rows<T> d) const {
    with_gate([&]<class Op>(Op const& op) {
      Derivative<Chain<Op>, T> const slope{
          .chain = chain_of(op), .input = b.data, .input_pitch = b.pitch, .output = y.data, .output_pitch = y.pitch};
      backend.map_gradient(static_cast<Rows<T const>>(d), d, slope);
    });
  }
};

}  // namespace coldpress

COLDPRESS_FIELDS(coldpress::Glu, gate, axis);
