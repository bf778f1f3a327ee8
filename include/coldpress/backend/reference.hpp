// The reference backend: plain loops, xtensor and BLAS, in float or double.
#pragma once

// It is the oracle for the other backends, and numerical gradients are checked with it. It needs coldpress::reference.

#include <coldpress/backend/concept.hpp>
#include <coldpress/backend/reference_matrices.hpp>
#include <coldpress/backend/reference_recurrent.hpp>

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

namespace coldpress {
namespace detail {

/// The value of a chain at x, and its derivative there. An erased chain consists of operations on blocks of whole
/// vectors.
template <class Chain, class Real>
Real value_of(Chain const& chain, Real x, Position at) {
  return chain.value(x, at);
}
template <class Chain, class Real>
Real derivative_of(Chain const& chain, Real x, Real y, Position at) {
  return chain.gradient(x, y, at);
}

template <class Real>
Real derivative_of(Chain<> const&, Real, Real, Position) {
  return 1;
}

template <class Real>
struct ErasedValue {
  static constexpr Index lanes = 16;
  static constexpr ErasedBlock block{1, lanes, lanes};
  alignas(64) Real values[lanes] = {};
  Index lane;
  Position at;  // of the block's first value

  ErasedValue(Real x, Position place) : lane(place.column % lanes), at{place.row, place.column - lane, place.step} {
    values[lane] = x;
  }
};
template <class Real>
Real value_of(BasicErasedChain<Real> const& chain, Real x, Position at) {
  ErasedValue block{x, at};
  for (int n = 0; n < chain.length; ++n) chain.ops[n].value(chain.ops[n].op, block.values, block.block, block.at);
  return block.values[block.lane];
}
template <class Real>
Real derivative_of(BasicErasedChain<Real> const& chain, Real x, Real y, Position at) {
  Real derivative = 1;
  for (int n = chain.length - 1; n >= 0; --n) {
    BasicErasedOp<Real> const& op = chain.ops[n];
    ErasedValue const in{value_of(BasicErasedChain<Real>{chain.ops, n}, x, at), at}, out{y, at};
    ErasedValue product{derivative, at};
    op.gradient(op.op, in.values, out.values, product.values, true, product.block, product.at);
    derivative = product.values[product.lane];
    y = in.values[in.lane];
  }
  return derivative;
}

/// A value joined with the value at the same place of the other operand.
template <class Real>
Real joined(NoJoin, Real x, Index, Index) {
  return x;
}
template <class Op, class Real>
Real joined(BinaryPostOp<Op, Real> const& with, Real x, Index i, Index j) {
  return with.op.value(x, with.other[i * with.pitch + j]);
}
template <class Real>
Real joined(BinaryPostOp<BasicErasedJoin<Real>, Real> const& with, Real x, Index i, Index j) {
  if (with.other) with.op.value(with.op.op, &x, with.other + i * with.pitch + j, 0, 1, {1, 1, 1});
  return x;
}

/// f(output, input, weight) for all products of one sample's convolution, as offsets in y, x and W. Where a sequence
/// reaches into its past, `input` is negative: the distance back from the first value.
template <class F>
void for_each_product(VolumeGeometry const& g, F f) {
  Index const channels = g.group_channels();
  for (Index o = 0; o < g.out(); ++o) {
    Index const k = o / g.positions(), plane = o / g.width.out / g.height.out % g.depth.out,
                i = o / g.width.out % g.height.out, j = o % g.width.out;
    for (Index term = 0; term < g.terms(); ++term) {
      Index const line = term / g.width.filter, c = term / g.taps(), channel = k / g.group_outputs() * channels + c,
                  weight = k * g.terms() + term, z = g.depth.at(plane, line / g.height.filter % g.depth.filter),
                  row = g.height.at(i, line % g.height.filter), column = g.width.at(j, term % g.width.filter);
      if (g.is_sequence()) {
        if (row < g.height.in) f(i * g.outputs + k, row * g.channels + channel, weight);
      } else if (z >= 0 && z < g.depth.in && row >= 0 && row < g.height.in && column >= 0 && column < g.width.in) {
        f(o, ((channel * g.depth.in + z) * g.height.in + row) * g.width.in + column, weight);
      }
    }
  }
}
/// f(output, input, tap) for all values under all windows of one plane, in order.
template <class F>
void for_each_value(PoolingGeometry const& g, F f) {
  for (Index o = 0; o < g.out(); ++o) {
    Index const i = o / g.width.out / g.height.out, j = o / g.width.out % g.height.out, k = o % g.width.out;
    for (Index tap = 0; tap < g.taps(); ++tap) {
      Index const z = g.depth.at(i, tap / g.width.filter / g.height.filter),
                  y = g.height.at(j, tap / g.width.filter % g.height.filter), x = g.width.at(k, tap % g.width.filter);
      bool const inside = z >= 0 && z < g.depth.in && y >= 0 && y < g.height.in && x >= 0 && x < g.width.in;
      if (inside) f(o, (z * g.height.in + y) * g.width.in + x, tap);
    }
  }
}

}  // namespace detail

template <class Real>
struct Reference {
  using Scalar = Real;
  Real* scratch = nullptr;  // as much as scratch_of(layer) asks for

  // The layout is the user's: rows without padding, parameters in canonical order.
  static constexpr Index pitch(Index n) { return n; }
  static constexpr Index storage_size(Parameter const& parameter) { return parameter.shape.size(); }
  static constexpr Real get(Parameter const&, Real const* storage, Index element) { return storage[element]; }
  static constexpr void put(Parameter const&, Real* storage, Index element, Real value) { storage[element] = value; }
  static constexpr bool is_canonical(Parameter const&) { return true; }
  static constexpr Index product_scratch(Index, Index) { return 0; }
  static constexpr Index weight_gradient_scratch(Index, Index) { return 0; }
  static constexpr Index recurrent_scratch(RecurrentWeights const&, Extent) { return 0; }
  static constexpr Index convolution_scratch(ConvolutionGeometry const&, Extent) { return 0; }
  static constexpr Index pooling_scratch(PoolingGeometry const&) { return 0; }
  static constexpr Index attention_scratch(AttentionGeometry const&, Extent) { return 0; }

  /// y = post_ops(x Wᵀ + b)
  template <class Chain, class Join>
  void affine(Rows<Real const> x, Real const* weight, Real const* bias, Rows<Real> y,
              PostOps<Chain, Real, Join> const& post_ops) const {
    reference::multiply(x, false, Rows<Real const>{weight, y.columns, x.columns, x.columns}, true, y);
    for (Index i = 0; bias && i < y.rows; ++i) {
      for (Index j = 0; j < y.columns; ++j) y.row(i)[j] += bias[j];
    }
    map(y, y, post_ops);
  }
  /// dx = derivative(dy W)
  template <class Chain>
  void product(Rows<Real const> dy, Real const* weight, Rows<Real> dx,
               Derivative<Chain, Real> const& derivative) const {
    reference::multiply(dy, false, Rows<Real const>{weight, dy.columns, dx.columns, dx.columns}, false, dx);
    map_gradient(dx, dx, derivative);
  }
  /// sink(dyᵀ x), as {out, in}
  template <class Sink>
  void weight_gradient(Rows<Real const> x, Rows<Real const> dy, Sink const& sink) const {
    std::vector<Real> gradient(static_cast<std::size_t>(dy.columns * x.columns));
    reference::multiply(dy, true, x, false, Rows<Real>{gradient.data(), dy.columns, x.columns, x.columns});
    apply_gradient(gradient.data(), static_cast<Index>(gradient.size()), sink);
  }
  /// sink(sum of the rows of dy)
  template <class Sink>
  void sum_rows(Rows<Real const> dy, Sink const& sink) const {
    std::vector<Real> gradient(static_cast<std::size_t>(dy.columns));
    for (Index i = 0; i < dy.rows; ++i) {
      for (Index j = 0; j < dy.columns; ++j) gradient[static_cast<std::size_t>(j)] += dy.row(i)[j];
    }
    apply_gradient(gradient.data(), static_cast<Index>(gradient.size()), sink);
  }
  /// y = post_ops(x * W + b), where * is the cross-correlation. Sequences continue from `state`. bias may be null.
  template <class Chain, class Join>
  void convolve(VolumeGeometry const& g, Rows<Real const> x, Real const* weight, Real const* bias, Rows<Real> y,
                PostOps<Chain, Real, Join> const& post_ops, Real* state, NoWindows = {}) const {
    for (Index n = 0; n < x.rows; ++n) {
      RingBuffer<Real> const past{state + n * RingBuffer<Real>::size(g.past(), g.channels), g.past(), g.channels};
      Real* const out = y.row(n);
      Real const* const in = x.row(n);
      for (Index i = 0; i < y.columns; ++i) {
        Index const k = g.is_sequence() ? i % g.outputs : i / g.positions();
        out[i] = bias ? bias[k] : 0;
      }
      detail::for_each_product(g, [&](Index o, Index i, Index w) {
        if (i >= 0) {
          out[o] += in[i] * weight[w];
        } else if (state) {
          Index const back = (-i + g.channels - 1) / g.channels;
          out[o] += past.step(-back)[i + back * g.channels] * weight[w];
        }
      });
      if (state && g.past() > 0) past.append(in, g.height.in);
    }
    map(y, y, post_ops);
  }
  /// dx = derivative(the gradient with respect to x)
  template <class Chain>
  void convolve_input_gradient(VolumeGeometry const& g, Rows<Real const> dy, Real const* weight, Rows<Real> dx,
                               Derivative<Chain, Real> const& derivative, NoWindows = {}) const {
    for (Index n = 0; n < dy.rows; ++n) {
      Real* const in = dx.row(n);
      std::fill_n(in, dx.columns, Real{});
      detail::for_each_product(g, [&](Index o, Index i, Index w) {
        if (i >= 0) in[i] += dy.row(n)[o] * weight[w];
      });
    }
    map_gradient(dx, dx, derivative);
  }
  /// y = post_ops(the transposed convolution of x, + b): the input gradient of g if x were dy. bias may be null.
  template <class Chain, class Join>
  void convolve_transposed(VolumeGeometry const& g, Rows<Real const> x, Real const* weight, Real const* bias,
                           Rows<Real> y, PostOps<Chain, Real, Join> const& post_ops) const {
    convolve_input_gradient(g, x, weight, y, Derivative<coldpress::Chain<>, Real>{});
    for (Index n = 0; bias && n < y.rows; ++n) {
      for (Index i = 0; i < y.columns; ++i)
        y.row(n)[i] += bias[g.is_sequence() ? i % g.channels : i / (g.in() / g.channels)];
    }
    map(y, y, post_ops);
  }
  /// weights(the gradient of W), and unless `biases` is null, biases(the sum of dy over samples and positions).
  template <class Sink>
  void convolve_parameter_gradients(VolumeGeometry const& g, Rows<Real const> x, Rows<Real const> dy,
                                    Sink const& weights, Sink const* biases, NoWindows = {}) const {
    std::vector<Real> gradient(static_cast<std::size_t>(g.outputs * g.terms())),
        sums(static_cast<std::size_t>(g.outputs));
    for (Index n = 0; n < x.rows; ++n) {
      detail::for_each_product(g, [&](Index o, Index i, Index w) {
        if (i >= 0) gradient.data()[w] += dy.row(n)[o] * x.row(n)[i];
      });
      for (Index i = 0; i < dy.columns; ++i)
        sums.data()[g.is_sequence() ? i % g.outputs : i / g.positions()] += dy.row(n)[i];
    }
    apply_gradient(gradient.data(), static_cast<Index>(gradient.size()), weights);
    if (biases) apply_gradient(sums.data(), g.outputs, *biases);
  }
  /// y = post_ops(the pooled x). For maxima, `places` receives the tap that each maximum came from.
  template <class Chain, class Join>
  void pool(PoolingGeometry const& g, Rows<Real const> x, Rows<Real> y, PostOps<Chain, Real, Join> const& post_ops,
            Real* places) const {
    for (Index plane = 0; plane < x.rows * g.planes; ++plane) {
      Real const* const in = x.row(plane / g.planes) + plane % g.planes * g.in();
      Real* const out = y.row(plane / g.planes) + plane % g.planes * g.out();
      Real* const place = places + plane * g.out();
      std::fill_n(out, g.out(), Real{});
      if (g.mode == PoolingMode::average) {
        auto const counts = window_sizes(g);
        detail::for_each_value(g, [&](Index o, Index i, Index) { out[o] += in[i]; });
        for (Index o = 0; o < g.out(); ++o) out[o] /= counts.data()[o];
      } else {
        std::fill_n(place, g.out(), Real{-1});
        detail::for_each_value(g, [&](Index o, Index i, Index tap) {
          if (place[o] >= 0 && !(in[i] > out[o]) && !(std::isnan(in[i]) && !std::isnan(out[o]))) return;
          out[o] = in[i], place[o] = static_cast<Real>(tap);
        });
      }
    }
    map(y, y, post_ops);
  }
  /// dx = derivative(the gradient with respect to x)
  template <class Chain>
  void pool_gradient(PoolingGeometry const& g, Rows<Real const> dy, Real const* places, Rows<Real> dx,
                     Derivative<Chain, Real> const& derivative) const {
    auto const counts = window_sizes(g);
    for (Index plane = 0; plane < dx.rows * g.planes; ++plane) {
      Real* const in = dx.row(plane / g.planes) + plane % g.planes * g.in();
      Real const* const out = dy.row(plane / g.planes) + plane % g.planes * g.out();
      std::fill_n(in, g.in(), Real{});
      detail::for_each_value(g, [&](Index o, Index i, Index tap) {
        if (g.mode == PoolingMode::average) {
          in[i] += out[o] / counts.data()[o];
        } else if (places[plane * g.out() + o] == static_cast<Real>(tap)) {
          in[i] += out[o];
        }
      });
    }
    map_gradient(dx, dx, derivative);
  }
  /// y = post_ops(x); y may be x.
  template <class Chain, class Join>
  void map(Rows<Real const> x, Rows<Real> y, PostOps<Chain, Real, Join> const& post_ops) const {
    for (Index i = 0; i < x.rows; ++i) {
      for (Index j = 0; j < x.columns; ++j) {
        Real const value = detail::joined(post_ops.join, x.row(i)[j], i, j);
        if (post_ops.kept) post_ops.kept[i * post_ops.kept_pitch + j] = value;
        y.row(i)[j] = detail::value_of(post_ops.chain, value, Position{i, j, post_ops.step});
      }
    }
  }
  /// dx = derivative(dy); dx may be dy.
  template <class Chain>
  void map_gradient(Rows<Real const> dy, Rows<Real> dx, Derivative<Chain, Real> const& derivative) const {
    for (Index i = 0; i < dy.rows; ++i) {
      for (Index j = 0; j < dy.columns; ++j) {
        Real factor = 1;
        if (derivative.chain.length > 0) {
          Real const x = derivative.input ? derivative.input[i * derivative.input_pitch + j] : Real{};
          factor = detail::derivative_of(derivative.chain, x, derivative.output[i * derivative.output_pitch + j],
                                         Position{i, j, derivative.step});
        }
        dx.row(i)[j] = dy.row(i)[j] * factor;
      }
    }
  }
  /// dx = derivative(dx + dy)
  template <class Chain>
  void add_gradient(Rows<Real const> dy, Rows<Real> dx, Derivative<Chain, Real> const& derivative) const {
    for (Index i = 0; i < dy.rows; ++i) {
      for (Index j = 0; j < dy.columns; ++j) dx.row(i)[j] += dy.row(i)[j];
    }
    map_gradient(dx, dx, derivative);
  }
  /// dx = derivative(dy times the derivative of a join's value with respect to its first operand, or to its second)
  template <class L, class Chain>
  void join_gradient(L const& layer, bool second, Rows<Real const> dy, Rows<Real const> a, Rows<Real const> b,
                     Rows<Real> dx, Derivative<Chain, Real> const& derivative) const {
    auto const op = layer.join();
    for (Index i = 0; i < dy.rows; ++i) {
      for (Index j = 0; j < dy.columns; ++j) {
        Real const x = op.needs_inputs ? a.row(i)[j] : Real{}, y = op.needs_inputs ? b.row(i)[j] : Real{};
        dx.row(i)[j] = dy.row(i)[j] * (second ? op.second(x, y) : op.first(x, y));
      }
    }
    map_gradient(dx, dx, derivative);
  }
  /// dt, the gradient of the summed loss with respect to the targets.
  template <class LossType>
  void loss_target_gradient(LossType const& loss, Rows<Real const> y, Rows<Real const> target, Rows<Real> dt) const {
    for (Index i = 0; i < y.rows; ++i) {
      for (Index j = 0; j < y.columns; ++j) dt.row(i)[j] = loss.target_gradient(y.row(i)[j], target.row(i)[j]);
    }
  }
  /// y = softmax or log softmax of each row; y may be x.
  void normalize(Normalization kind, Rows<Real const> x, Rows<Real> y) const { reference::normalize(kind, x, y); }
  /// Computes dx from y and dy; dx may be dy.
  void normalize_gradient(Normalization kind, Rows<Real const> y, Rows<Real const> dy, Rows<Real> dx) const {
    reference::normalize_gradient(kind, y, dy, dx);
  }
  /// y = normalised x, dx = gradient of the summed loss with respect to x; returns the mean loss, which is summed in
  /// double. y may be x.
  template <class LossType>
  Real loss(LossType const& loss, Normalization kind, Rows<Real const> x, Rows<Real> y, Rows<Real const> target,
            Rows<Real> dx) const {
    if (kind != Normalization::none) normalize(kind, x, y);
    double total = 0;
    for (Index i = 0; i < y.rows; ++i) {
      std::fill_n(dx.row(i), dx.columns, Real{});
      auto const compare = [&](Index j, Real t) {
        total += static_cast<double>(loss.value(y.row(i)[j], t));
        dx.row(i)[j] = loss.gradient(y.row(i)[j], t);
      };
      if constexpr (LossType::target == Target::label) {
        compare(static_cast<Index>(*target.row(i)), *target.row(i));
      } else {
        for (Index j = 0; j < y.columns; ++j) compare(j, target.row(i)[j]);
      }
    }
    if (kind != Normalization::none) normalize_gradient(kind, y, dx, dx);
    return static_cast<Real>(total / static_cast<double>(y.rows));
  }
  /// All time steps of one part of a recurrent layer: h, and in r.kept what backward needs.
  void recurrent(Recurrence<Real> const& r, Real const* weights) const { detail::reference_recurrent(r, weights); }
  /// The backward pass of the same: r.gradients receives the gradients of the gates' sums, from `upper` and from what
  /// flows back through time.
  void recurrent_gradient(Recurrence<Real> const& r, Real const* weights, Sequence<Real const> const& upper,
                          Index truncation) const {
    detail::reference_recurrent_gradient(r, weights, upper, truncation);
  }
  /// The gradient of a part's input, from the gradients of its sums. dx has one row per sample and step.
  void recurrent_input_gradient(Recurrence<Real> const& r, Real const* weights, Rows<Real> dx) const {
    detail::reference_recurrent_input_gradient(r, weights, dx);
  }
  /// sink(the gradients of a part's weights), from the gradients of its sums.
  template <class Sink>
  void recurrent_weight_gradient(Recurrence<Real> const& r, Sink const& sink) const {
    detail::reference_recurrent_weight_gradient(r, [&](Index offset, std::vector<Real> const& gradient) {
      apply_gradient(gradient.data(), static_cast<Index>(gradient.size()), sink.at(offset));
    });
  }
  /// Scaled dot-product attention, and its gradients.
  void attend(AttentionPass<Real> const& a) const { attend_in_loops(*this, a); }
  void attend_gradient(AttentionPass<Real> const& a, AttentionGradients<Real> const& to) const {
    attend_gradient_in_loops(*this, a, to);
  }
  /// to = from, or to += from.
  void copy(Sequence<Real const> const& from, Sequence<Real> const& to, bool add = false) const {
    for (Index t = 0; t < from.steps; ++t) {
      for (Index i = 0; i < from.samples; ++i) {
        for (Index c = 0; c < from.columns; ++c) {
          Real& value = to.at(t, i)[c * to.column_pitch];
          value = (add ? value : 0) + from.at(t, i)[c * from.column_pitch];
        }
      }
    }
  }
  /// Passes a complete gradient of `size` values, or what a running statistic observed, to the sink.
  template <class Sink>
  void apply_gradient(Real const* gradient, Index size, Sink const& sink) const {
    for (Index i = 0; i < size; ++i) sink.take(i, gradient[i]);
  }
  /// Scales each unit's weights down to the L2 norm `most` if theirs is larger.
  void constrain(Parameter const& parameter, Real* weight, Real most) const {
    Index const units = parameter.shape.rank() < 2 ? 1 : parameter.shape[0], size = parameter.shape.size() / units;
    for (Index unit = 0; unit < units; ++unit) {
      std::span const w{weight + unit * size, static_cast<std::size_t>(size)};
      Real sum = 0;
      for (Real const value : w) sum += value * value;
      if (Real const norm = std::sqrt(sum); norm > most) {
        for (Real& value : w) value *= most / norm;
      }
    }
  }
  /// The sum of squares of a flat buffer.
  double squared_norm(Real const* values, Index size) const { return reference::squared_norm(values, size); }

 private:
  /// The number by which each window's sum is divided.
  static std::vector<Real> window_sizes(PoolingGeometry const& g) {
    std::vector<Real> sizes(static_cast<std::size_t>(g.out()), g.count_padding ? static_cast<Real>(g.taps()) : Real{});
    if (!g.count_padding) detail::for_each_value(g, [&](Index o, Index, Index) { sizes.data()[o] += 1; });
    return sizes;
  }
};
static_assert(concepts::Backend<Reference<float>> && concepts::Backend<Reference<double>>);

}  // namespace coldpress
