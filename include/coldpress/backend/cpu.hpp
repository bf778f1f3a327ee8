// The fast CPU backend: fused and vectorised, row-major matrices with padded rows, weights as {in, out}.
#pragma once

#include <coldpress/backend/convolution.hpp>
#include <coldpress/backend/epilogue.hpp>
#include <coldpress/backend/layout.hpp>
#include <coldpress/backend/pooling.hpp>
#include <coldpress/backend/recurrent.hpp>
#include <coldpress/backend/rowwise.hpp>

namespace coldpress {
inline namespace COLDPRESS_ISA {

// What needs no template is one all the same, here and in the kernels: a program pays for the tiles it uses, not for
// those it includes.
struct Cpu : cpu::Layout {
  float* scratch = nullptr;  // as many floats as scratch_of(layer) asks for

  /// y = then(x Wᵀ + b)
  template <class X, class Y, class Chain, class Join>
  COLDPRESS_INLINE void affine(X x, float const* weight, float const* bias, Y y,
                               Then<Chain, float, Join> const& then) const {
    cpu::Output<Chain, Join> const epilogue{then, bias, y.data, y.pitch, writable(y)};
    cpu::either(
        cpu::is_one(x.rows),
        [&]() COLDPRESS_INLINE_LAMBDA {
          cpu::multiply_row(y.columns, x.columns, x.data, weight, pitch(y.columns), epilogue);
        },
        [&]() COLDPRESS_INLINE_LAMBDA {
          cpu::multiply(y.rows, y.columns, x.columns, {x.data, x.pitch, 1}, weight, pitch(y.columns), epilogue);
        });
  }
  /// dx = slope(dy W)
  template <class DY, class DX, class Chain>
  void product(DY dy, float const* weight, DX dx, Slope<Chain, float> const& slope) const {
    Index const in = dx.columns, out = dy.columns;
    cpu::transpose(in, out, weight, pitch(out), scratch, pitch(in));
    cpu::multiply(dx.rows, dx.columns, out, {dy.data, dy.pitch, 1}, scratch, pitch(in),
                  cpu::InputGradient<Chain>{slope, dx.data, dx.pitch, dx.columns});
  }
  /// sink(dyᵀ x), as {in, out}
  template <class X, class DY, class Sink>
  void weight_gradient(X x, DY dy, Sink const& sink) const {
    auto const epilogue = cpu::epilogue_of(sink, pitch(dy.columns));
    cpu::either(
        cpu::turns(x.columns, dy.columns),
        [&] {
          cpu::multiply_turned(x.columns, dy.columns, x.rows, {dy.data, 1, dy.pitch}, {x.data, x.pitch}, epilogue);
        },
        [&] {
          cpu::multiply(x.columns, dy.columns, x.rows, {x.data, 1, x.pitch}, dy.data, dy.pitch, epilogue);
        });
  }
  /// sink(Σ rows of dy)
  template <class DY, class Sink>
  void sum_rows(DY dy, Sink const& sink) const {
    auto const epilogue = cpu::epilogue_of(sink, 0);
    cpu::split<cpu::tile_columns>(cpu::vectors(dy.columns), [&](Index v, auto w) COLDPRESS_INLINE_LAMBDA {
      cpu::Vector sum[1][w] = {};
      for (Index i = 0; i < dy.rows; ++i) {
        cpu::unroll<w>([&](auto j)
                           COLDPRESS_INLINE_LAMBDA { sum[0][j] += cpu::load(dy.row(i) + (v + j) * cpu::lanes); });
      }
      epilogue.finish(sum, 0, v * cpu::lanes);
    });
  }
  /// y = then(x * W + b), * the cross-correlation; the sequences go on where `state` says. bias may be null.
  template <class X, class Y, class Chain, class Join>
  COLDPRESS_INLINE void convolve(ConvolutionGeometry const& g, X x, float const* weight, float const* bias, Y y,
                                 Then<Chain, float, Join> const& then, float* state) const {
    if (g.sequence && state && g.past() > 0) {
      cpu::Output<Chain, Join> const epilogue{then, nullptr, y.data, y.pitch, writable(y)};
      constexpr bool known = !std::is_same_v<std::remove_const_t<decltype(x.columns)>, Index>;
      cpu::convolve_stream<known>(g, x, weight, bias, state, epilogue);
    } else if (g.sequence) {
      cpu::convolve_sequences(g, x, weight, bias, y, scratch);
      if (!then.empty()) map(y, y, then);
    } else {
      finish_rows(y, then, cpu::Panel{g}.images, [&](Index i, Index count) {
        cpu::convolve_images(g, some(x, i, count), weight, bias, some(y, i, count), scratch);
      });
    }
  }
  /// dx = slope(what dy is to x)
  template <class DY, class DX, class Chain>
  void convolve_input_gradient(ConvolutionGeometry const& g, DY dy, float const* weight, DX dx,
                               Slope<Chain, float> const& slope) const {
    finish_gradient(dx, slope, g.sequence ? Index{dy.rows} : cpu::Panel{g}.images, 0, [&](Index i, Index count) {
      if (g.sequence) {
        cpu::sequence_input_gradient(g, some(dy, i, count), weight, some(dx, i, count), scratch);
      } else {
        cpu::image_input_gradient(g, some(dy, i, count), weight, some(dx, i, count), scratch);
      }
    });
  }
  /// sink(what dy is to W)
  template <class X, class DY, class Sink>
  void convolve_weight_gradient(ConvolutionGeometry const& g, X x, DY dy, Sink const& sink) const {
    Index const size = g.depth() * pitch(g.outputs);
    float* const gradient = scratch;
    cpu::zero(gradient, size);
    if (g.sequence) {
      cpu::sequence_weight_gradient(g, x, dy, gradient, gradient + size);
    } else {
      cpu::image_weight_gradient(g, x, dy, gradient, gradient + size);
    }
    cpu::hand_over(sink, gradient, size);
  }
  /// sink(Σ dy over samples and positions)
  template <class DY, class Sink>
  void convolve_bias_gradient(ConvolutionGeometry const& g, DY dy, Sink const& sink) const {
    auto const epilogue = cpu::epilogue_of(sink, 0);
    for (Index k = 0; k < g.outputs; k += cpu::lanes) {
      cpu::Vector sum[1][1] = {{cpu::channel_sums(g, dy, k)}};
      epilogue.finish(sum, 0, k);
    }
  }
  /// y = then(the pooled x); for maxima, `places` takes the tap that each is from.
  template <class X, class Y, class Chain, class Join>
  void pool(PoolingGeometry const& g, X x, Y y, Then<Chain, float, Join> const& then, float* places) const {
    finish_rows(y, then, 1, [&](Index i, Index) {
      cpu::pool(g, x.row(i), y.row(i), places ? places + i * g.planes * g.out() : nullptr, scratch);
    });
  }
  /// dx = slope(what dy is to x)
  template <class DY, class DX, class Chain>
  void pool_gradient(PoolingGeometry const& g, DY dy, float const* places, DX dx,
                     Slope<Chain, float> const& slope) const {
    finish_gradient(dx, slope, 1, dx.columns, [&](Index i, Index) {
      cpu::pool_gradient(g, dy.row(i), places ? places + i * g.planes * g.out() : nullptr, dx.row(i), scratch);
    });
  }
  /// y = then(x); y may be x.
  template <class X, class Y, class Chain, class Join>
  void map(X x, Y y, Then<Chain, float, Join> const& then) const {
    cpu::Output<Chain, Join> const epilogue{then, nullptr, y.data, y.pitch, writable(y)};
    for (Index i = 0; i < x.rows; ++i) cpu::pass_row(x.row(i), x.columns, epilogue, i);
  }
  /// dx = slope(dy); dx may be dy.
  template <class DY, class DX, class Chain>
  void map_gradient(DY dy, DX dx, Slope<Chain, float> const& slope) const {
    cpu::InputGradient<Chain> const epilogue{slope, dx.data, dx.pitch, dx.columns};
    for (Index i = 0; i < dy.rows; ++i) cpu::pass_row(dy.row(i), dy.columns, epilogue, i);
  }
  /// dx = slope(dx + dy)
  template <class DY, class DX, class Chain>
  void add_gradient(DY dy, DX dx, Slope<Chain, float> const& slope) const {
    cpu::InputGradient<Chain> const epilogue{slope, dx.data, dx.pitch, dx.columns};
    for (Index i = 0; i < dy.rows; ++i) {
      for (Index c = 0; c < dy.columns; c += cpu::lanes) {
        Index const left = dy.columns - c;
        cpu::Vector v[1][1] = {{cpu::load_row(dx.row(i) + c, left) + cpu::load_row(dy.row(i) + c, left)}};
        epilogue.finish(v, i, c);
      }
    }
  }
  /// dx = slope(dy times the slope of a join's value by its first operand, or by its second). a and b are read where
  /// the join needs them.
  template <class L, class DY, class A, class B, class DX, class Chain>
  void join_gradient(L const& layer, bool second, DY dy, A a, B b, DX dx, Slope<Chain, float> const& slope) const {
    cpu::InputGradient<Chain> const epilogue{slope, dx.data, dx.pitch, dx.columns};
    auto const op = layer.join();
    for (Index i = 0; i < dy.rows; ++i) {
      for (Index c = 0; c < dy.columns; c += cpu::lanes) {
        Index const left = dy.columns - c;
        cpu::Vector x{}, y{};
        if constexpr (op.needs_inputs) x = cpu::load_row(a.row(i) + c, left), y = cpu::load_row(b.row(i) + c, left);
        cpu::Vector const d = second ? op.second(x, y) : op.first(x, y);
        cpu::Vector v[1][1] = {{cpu::load_row(dy.row(i) + c, left) * d}};
        epilogue.finish(v, i, c);
      }
    }
  }
  /// dt, the gradient of the summed loss with respect to the targets.
  template <class LossType, class Y, class Target, class DT>
  void loss_target_gradient(LossType const& loss, Y y, Target target, DT dt) const {
    for (Index i = 0; i < y.rows; ++i) {
      cpu::for_row(y.columns, [&](Index c, Index left) {
        cpu::Vector const v = cpu::load_row(y.row(i) + c, left), t = cpu::load_row(target.row(i) + c, left);
        cpu::store(dt.row(i) + c, cpu::masked(loss.target_gradient(v, t), left, 0));
      });
    }
  }
  /// y = softmax or log softmax of each row; y may be x.
  template <class X, class Y>
  void normalize(Normalization kind, X x, Y y) const {
    for (Index i = 0; i < x.rows; ++i) cpu::normalize_row(kind, x.row(i), y.row(i), x.columns);
  }
  /// dx from y and dy; dx may be dy.
  template <class Y, class DY, class DX>
  void normalize_gradient(Normalization kind, Y y, DY dy, DX dx) const {
    for (Index i = 0; i < y.rows; ++i) cpu::normalize_gradient_row(kind, y.row(i), dy.row(i), dx.row(i), y.columns);
  }
  /// y = normalised x, dx = gradient of the summed loss with respect to x; returns the mean loss. One pass over each
  /// row. y may be x.
  template <class LossType, class X, class Y, class Target, class DX>
  float loss(LossType const& loss, Normalization kind, X x, Y y, Target target, DX dx) const {
    cpu::Vector total{};
    for (Index i = 0; i < x.rows; ++i) {
      if (kind != Normalization::none) cpu::normalize_row(kind, x.row(i), y.row(i), x.columns);
      total += cpu::loss_row(loss, y.row(i), target.row(i), dx.row(i), y.columns);
      if (kind != Normalization::none) cpu::normalize_gradient_row(kind, y.row(i), dx.row(i), dx.row(i), x.columns);
    }
    return cpu::sum(total) / static_cast<float>(x.rows);
  }
  /// All steps of a part of a recurrent layer: h, and in r.kept what backward needs.
  template <class T>
  COLDPRESS_INLINE void recurrent(Recurrence<T> const& r, T const* weights) const {
    cpu::with_gates(r.type, [&](auto gates) COLDPRESS_INLINE_LAMBDA { cpu::recurrent<gates>(r, weights); });
  }
  /// The same backward: r.gradients gets those of the gates' sums. `upper`: that of h from above, of all steps or
  /// of the last that comes; what flows from a step to the one before is cut every `truncation` steps from the end.
  template <class T>
  void recurrent_gradient(Recurrence<T> const& r, T const* weights,
                          std::type_identity_t<Sequence<T const>> const& upper, Index truncation) const {
    cpu::with_gates(r.type, [&](auto gates) COLDPRESS_INLINE_LAMBDA {
      cpu::recurrent_gradient<gates>(r, weights, upper, truncation, scratch);
    });
  }
  /// The gradient of what goes into a part, from those of its sums: dx has a row for each sample of each step.
  template <class T>
  void recurrent_input_gradient(Recurrence<T> const& r, T const* weights, Rows<T> dx) const {
    Index const units = r.units(), gates = r.weights.gates;
    if (r.weights.inputs(r.part) > 0) {
      product(Rows<float const>{r.gradients.data, dx.rows, gates * units, r.gradients.sample_pitch},
              weights + recurrent_part(r.weights, r.part), dx, Slope<Chain<>, float>{});
      return;
    }
    for (Index q = 0; q < gates; ++q) {
      cpu::copy({r.gradients.data + q * units, dx.rows, 1, dx.columns, r.gradients.sample_pitch, 0},
                {dx.data, dx.rows, 1, dx.columns, dx.pitch, 0}, q > 0);
    }
  }
  /// The gradients of a part's weights, from those of its sums; steps and samples of r.x and r.h are one matrix.
  template <class Sink>
  void recurrent_weight_gradient(Recurrence<float> const& r, Sink const& sink) const {
    RecurrentWeights const& w = r.weights;
    Index const inputs = w.inputs(r.part), samples = r.x.samples, rows = samples * r.x.steps, later = rows - samples,
                pitch = r.gradients.sample_pitch, columns = w.gates * r.units();
    Sink const part = sink.at(recurrent_part(w, r.part));
    auto const row = [&](Index n) { return part.at(n * recurrent_pitch(w)); };
    Rows<float const> const of_x{r.gradients.data, rows, columns, pitch};
    Rows<float const> const of_h{r.gradients.data + (w.gates == 3 ? r.units() : 0), rows, columns, pitch};
    Index const h_from = r.reversed ? samples : 0, to = r.reversed ? 0 : samples;
    if (inputs > 0) weight_gradient(Rows<float const>{r.x.data, rows, inputs, r.x.sample_pitch}, of_x, row(0));
    weight_gradient(Rows<float const>{r.h.data + h_from * r.h.sample_pitch, later, w.hidden, r.h.sample_pitch},
                    Rows<float const>{of_h.row(to), later, columns, pitch}, row(inputs));
    sum_rows(of_x, row(inputs + w.hidden));
    sum_rows(of_h, row(inputs + w.hidden + 1));
  }
  /// to = from, or to += from.
  void copy(Sequence<float const> const& from, Sequence<float> const& to, bool add = false) const {
    cpu::copy(from, to, add);
  }
  /// sink(a gradient that is whole, of `size` values), or what a statistic observes.
  template <class Sink>
  void hand_over(float const* gradient, Index size, Sink const& sink) const {
    cpu::hand_over(sink, gradient, size);
  }
  /// Each unit's weights, scaled down to the L2 norm `most` where theirs is above.
  void constrain(Parameter const& parameter, float* weight, float most) const {
    for_units(parameter, weight, [&](Rows<float> units) { limit_columns(units, most); });
  }
  template <class T>
  void limit_columns(Rows<T> weights, float most) const {
    for (Index c = 0; c < weights.columns; c += cpu::lanes) {
      Index const left = weights.columns - c;
      cpu::Vector squares{};
      for (Index i = 0; i < weights.rows; ++i) {
        cpu::Vector const w = cpu::load_row(weights.row(i) + c, left);
        squares = cpu::fma(w, w, squares);
      }
      cpu::Vector const norm = Math<cpu::Vector>::sqrt(squares);
      cpu::Vector const factor = norm > cpu::splat(most) ? most / norm : cpu::splat(1);
      for (Index i = 0; i < weights.rows; ++i)
        cpu::store_row(weights.row(i) + c, cpu::load_row(weights.row(i) + c, left) * factor, left);
    }
  }
  /// Sum of squares of a flat buffer.
  double squared_norm(float const* values, Index size) const {
    double total = 0;
    for (Index i = 0; i < size; i += cpu::lanes) {
      cpu::Vector const v = cpu::load(values + i);
      total += static_cast<double>(cpu::sum(v * v));
    }
    return total;
  }

 private:
  /// Columns of y up to which whole vectors may be stored: all of the pitch, unless rows touch.
  template <class Y>
  static constexpr Index writable(Y y) {
    return y.pitch >= (y.columns + 15) / 16 * 16 ? y.pitch : y.columns;
  }
  template <class T, class Count, class Columns, class Pitch>
  static Rows<T> some(Rows<T, Count, Columns, Pitch> x, Index first, Index count) {
    return {x.row(first), count, x.columns, x.pitch};
  }
  /// compute(first, count) writes some rows of y; while they are in the cache, the chain follows.
  template <class Y, class Chain, class Join, class F>
  static void finish_rows(Y y, Then<Chain, float, Join> const& then, Index at_once, F compute) {
    cpu::Output<Chain, Join> const epilogue{then, nullptr, y.data, y.pitch, writable(y)};
    for (Index i = 0; i < y.rows; i += at_once) {
      Index const count = std::min<Index>(at_once, y.rows - i);
      compute(i, count);
      if (then.empty()) continue;
      for (Index j = i; j < i + count; ++j) cpu::pass_row(y.row(j), y.columns, epilogue, j);
    }
  }
  /// compute(first, count) makes some rows of dx: it writes the first columns, and adds to the others, which are zero.
  /// While they are in the cache, the slope follows.
  template <class DX, class Chain, class F>
  static void finish_gradient(DX dx, Slope<Chain, float> const& slope, Index at_once, Index written, F compute) {
    cpu::InputGradient<Chain> const epilogue{slope, dx.data, dx.pitch, dx.columns};
    for (Index i = 0; i < dx.rows; i += at_once) {
      Index const count = std::min<Index>(at_once, dx.rows - i);
      for (Index j = i; j < i + count; ++j) cpu::zero(dx.row(j) + written, writable(dx) - written);
      compute(i, count);
      if (slope.chain.length == 0) continue;
      for (Index j = i; j < i + count; ++j) cpu::pass_row(dx.row(j), dx.columns, epilogue, j);
    }
  }
};

}  // namespace COLDPRESS_ISA
}  // namespace coldpress
