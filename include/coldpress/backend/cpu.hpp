// The fast CPU backend: fused and vectorised, row-major matrices with padded rows, weights as {in, out}.
#pragma once

#include <coldpress/backend/affine.hpp>
#include <coldpress/backend/attention.hpp>
#include <coldpress/backend/concept.hpp>
#include <coldpress/backend/convolution.hpp>
#include <coldpress/backend/epilogue.hpp>
#include <coldpress/backend/image_weight_gradient.hpp>
#include <coldpress/backend/layout.hpp>
#include <coldpress/backend/pooled_rows.hpp>
#include <coldpress/backend/recurrent_gradient.hpp>
#include <coldpress/backend/rowwise.hpp>
#include <coldpress/backend/signals.hpp>
#include <coldpress/backend/volume_convolution.hpp>
#include <coldpress/backend/work_partition.hpp>
#include <coldpress/core/freestanding.hpp>

namespace coldpress {
inline namespace COLDPRESS_ISA {

// Everything is a template, here and in the kernels, even where it need not be: a program then pays only for the tiles
// it uses, and not for all that it includes.
struct Cpu : cpu::Layout, cpu::WorkPartition {
  static constexpr bool compiles_variants = true, has_signals = true;

  /// y = post_ops(x Wᵀ + b). W is stored as floats, or as bfloat16.
  template <class X, class Number, class Y, class Chain, class Join>
  COLDPRESS_INLINE void affine(X x, Number const* weight, float const* bias, Y y,
                               PostOps<Chain, float, Join> const& post_ops) const {
    auto const epilogue = cpu::epilogue_of(y, post_ops, bias);
    cpu::either(
        cpu::is_one(x.rows),
        [&]() COLDPRESS_INLINE_LAMBDA {
          cpu::affine_row(cpu::affine_step(x, weight, bias, y, post_ops), x.columns, y.columns);
        },
        [&]() COLDPRESS_INLINE_LAMBDA {
          cpu::either(
              cpu::is_one(y.columns),
              [&] { each_row(x, [&](Index i) { cpu::dot(x.columns, x.row(i), weight, epilogue, i); }); },
              [&]() COLDPRESS_INLINE_LAMBDA {
                multiply(y.rows, y.columns, x.columns, {x.data, x.pitch, 1}, cpu::Right{weight, pitch(y.columns)},
                         epilogue, 0, panels_of(y.columns));
              });
        });
  }
  /// dx = derivative(dy W). W is transposed in parts that are small enough to stay in the cache until they are used.
  template <class DY, class Number, class DX, class Chain, class Adds>
  void product(DY dy, Number const* weight, DX dx, Derivative<Chain, float, Adds> const& derivative) const {
    auto const in = dx.columns;
    auto const out = dy.columns;
    auto const all = cpu::vectors(in);
    auto const panels = panels_of(in);
    auto const epilogue = cpu::epilogue_of(dx, derivative);
    auto const multiply_some = [&](auto first, auto count, Index panel, auto some) {
      cpu::either(
          cpu::is_one(out), [&] { cpu::copy_run(weight + first, scratch, count); },
          [&] { transpose(count, out, weight + first * pitch(out), pitch(out), scratch, pitch(count)); });
      multiply(dx.rows, in, out, {dy.data, dy.pitch, 1}, cpu::Right<float>{scratch, pitch(count), first}, epilogue,
               panel, some);
    };
    auto const at_once = transposed_at_once(out);
    cpu::either(
        cpu::at_most(in, at_once), [&] { multiply_some(Fixed<0>{}, in, 0, panels); },
        [&] {
          Index const most = at_once / (cpu::tile_columns * cpu::lanes);
          auto const column = [&](Index panel) { return cpu::start_of(panel, all, cpu::tile_columns) * cpu::lanes; };
          for (Index panel = 0; panel < panels; panel += most) {
            Index const some = freestanding::min<Index>(most, panels - panel), first = column(panel);
            multiply_some(first, freestanding::min<Index>(column(panel + some), in) - first, panel, some);
          }
        });
  }
  /// sink(dyᵀ x), as {in, out}
  template <class X, class DY, class Sink>
  void weight_gradient(X x, DY dy, Sink const& sink) const {
    weight_gradient(x, dy, sink, pitch(dy.columns));
  }
  /// The same with rows of the sink that are row_pitch apart.
  template <class X, class DY, class Sink>
  void weight_gradient(X x, DY dy, Sink const& sink, Index row_pitch) const {
    auto const epilogue = cpu::epilogue_of(sink, row_pitch);
    cpu::either(
        cpu::is_one(dy.columns),
        [&] {
          sum_rows_of(x, epilogue, [&](cpu::Vector& sum, Index i, Index c) COLDPRESS_INLINE_LAMBDA {
            sum = cpu::fma(cpu::splat(*dy.row(i)), cpu::load_row(x.row(i) + c, x.columns - c), sum);
          });
        },
        [&] {
          cpu::either(
              cpu::turns(x.columns, dy.columns),
              [&] {
                cpu::multiply_turned(x.columns, dy.columns, x.rows, {dy.data, 1, dy.pitch}, {x.data, x.pitch},
                                     epilogue);
              },
              [&] {
                multiply(x.columns, dy.columns, x.rows, {x.data, 1, x.pitch}, cpu::Right<float>{dy.data, dy.pitch},
                         epilogue, 0, panels_of(dy.columns));
              });
        });
  }
  /// sink(sum of the rows of dy)
  template <class DY, class Sink>
  void sum_rows(DY dy, Sink const& sink) const {
    sum_rows_of(dy, cpu::epilogue_of(sink, 0),
                [&](cpu::Vector& sum, Index i, Index c) COLDPRESS_INLINE_LAMBDA { sum += cpu::load(dy.row(i) + c); });
  }
  /// y = post_ops(x * W + b), where * is the cross-correlation. Sequences continue from `state`. bias may be null.
  template <class G, class X, class Y, class Chain, class Join, class State, class Windows = NoWindows>
  COLDPRESS_INLINE void convolve(G const& g, X x, float const* weight, float const* bias, Y y,
                                 PostOps<Chain, float, Join> const& post_ops, State state,
                                 Windows const& windows = {}) const {
    if constexpr (!std::is_null_pointer_v<State>) {
      if (is_of<ConvolutionKind::sequence>(g) && state && g.past() > 0)
        return cpu::convolve_stream(g, x, cpu::convolution_step(g, x, weight, bias, y, post_ops, state));
    }
    cpu::either(
        is_of<ConvolutionKind::sequence>(g),
        [&]() COLDPRESS_INLINE_LAMBDA {
          if (cpu::is_one_step(g, x))  // no panel is needed
            return cpu::convolve_step<1, true, false>(cpu::convolution_step(g, x, weight, bias, y, post_ops, nullptr));
          convolve_sequences(*this, g, x, weight, bias, y, post_ops);
        },
        [&]() COLDPRESS_INLINE_LAMBDA {
          cpu::either(
              is_of<ConvolutionKind::volume>(g),
              [&]() COLDPRESS_INLINE_LAMBDA { convolve_volumes(g, x, weight, bias, y, post_ops); },
              [&]() COLDPRESS_INLINE_LAMBDA { convolve_images(g, x, weight, bias, y, post_ops, windows); });
        });
  }
  /// The same for a block of a stream's steps, of which there are up to `most`.
  template <class G, class X, class Y, class Chain, class Join>
  COLDPRESS_INLINE void convolve(G const& g, X x, float const* weight, float const* bias, Y y,
                                 SignalPostOps<Chain, float, Join> const& post_ops, Index most) const {
    cpu::convolve_signal(cpu::signal_convolution(g, x, weight, bias, y, post_ops, most), cpu::outputs_of(g));
  }
  /// dx = derivative(the gradient with respect to x)
  template <class G, class DY, class DX, class Chain, class Adds, class Windows = NoWindows>
  void convolve_input_gradient(G const& g, DY dy, float const* weight, DX dx,
                               Derivative<Chain, float, Adds> const& derivative, Windows const& windows = {}) const {
    cpu::either(
        is_of<ConvolutionKind::sequence>(g),
        [&] {
          each(dy.rows, g.products(), [&](Index first, Index last, int worker) {
            cpu::zero_from(dx.columns, cpu::some(dx, first, last - first));
            cpu::sequence_input_gradient(g, cpu::some(dy, first, last - first), weight, dx, derivative, first,
                                         scratch_of(worker));
          });
        },
        [&] {
          cpu::either(
              is_of<ConvolutionKind::volume>(g),
              [&] {
                volumes_input_gradient(g, dy, weight, nullptr, dx, derivative.adds);
                cpu::zero_from(dx.columns, dx);
                auto const rest = derivative.adding(std::false_type{});
                if (!rest.empty()) map_gradient(dx, dx, rest);
              },
              [&] { images_input_gradient(g, dy, weight, dx, derivative, windows); });
        });
  }
  /// y = post_ops(the transposed convolution of x, + b): the input gradient of g if x were dy. bias may be null. Blocks
  /// of images, whose sums have another order, are not used: the bits of a sample do not depend on the batch.
  template <class G, class X, class Y, class Chain, class Join>
  void convolve_transposed(G const& g, X x, float const* weight, float const* bias, Y y,
                           PostOps<Chain, float, Join> const& post_ops) const {
    cpu::either(
        is_of<ConvolutionKind::sequence>(g),
        [&] {
          each(x.rows, g.products(), [&](Index first, Index last, int worker) {
            cpu::fill_steps(g.channels, bias, cpu::some(y, first, last - first));
            cpu::sequence_input_gradient(g, cpu::some(x, first, last - first), weight, y,
                                         Derivative<coldpress::Chain<>, float, std::true_type>{}, first,
                                         scratch_of(worker));
            cpu::finish(y, post_ops, first, last - first);
          });
        },
        [&] {
          cpu::either(
              is_of<ConvolutionKind::volume>(g),
              [&] {
                volumes_input_gradient(g, x, weight, bias, y, false);
                if (!post_ops.empty()) map(y, y, post_ops);
              },
              [&] {
                finish_rows(y, post_ops, 0, cpu::Panel{g, true}.images, g.products(),
                            [&](Index i, Index count, float* own) {
                              Rows<float> const sums = cpu::some(y, i, count);
                              cpu::fill_planes(g.channels, bias, sums);
                              cpu::image_input_gradient(g, cpu::some(x, i, count), weight, sums, own);
                            });
              });
        });
  }
  /// weights(the gradient of W), and unless `biases` is null, biases(the sum of dy over samples and positions).
  template <class G, class X, class DY, class Sink, class Windows = NoWindows>
  void convolve_parameter_gradients(G const& g, X x, DY dy, Sink const& weights, Sink const* biases,
                                    Windows const& windows = {}) const {
    Index const size = g.terms() * pitch(g.outputs), all = gradients(g);
    float *const gradient = scratch, *const sums = biases ? gradient + size : nullptr;
    cpu::zero(gradient, all);
    cpu::either(
        is_of<ConvolutionKind::sequence>(g),
        [&] { cpu::sequence_weight_gradient(g, x, dy, gradient, sums, gradient + all); },
        [&] {
          cpu::either(
              is_of<ConvolutionKind::volume>(g), [&] { cpu::volume_weight_gradient(*this, g, x, dy, sums); },
              [&] {
                Index const blocks = g.in_blocks() ? cpu::blocks_of(x) : 0, first = blocks * block_size,
                            rest = x.rows - first;
                auto const from = cpu::behind<float const>(windows, dy);
                if (blocks > 0) cpu::block_weight_gradient(*this, g, x, from, blocks, all, sums);
                if (rest > 0) {
                  float* free = gradient + all;
                  Rows<float const> const part = cpu::read_images(from, first, rest, free);
                  cpu::image_weight_gradient(*this, g, cpu::some(x, first, rest), part, free - gradient, sums);
                }
              });
        });
    cpu::apply_gradient(weights, gradient, size);
    if (biases) cpu::apply_gradient(*biases, sums, g.outputs);
  }
  /// y = post_ops(the pooled x). For maxima, `places` receives the tap that each maximum came from.
  template <class X, class Y, class Chain, class Join>
  void pool(PoolingGeometry const& g, X x, Y y, PostOps<Chain, float, Join> const& post_ops, float* places) const {
    auto const places_of = [&](Index i) { return places ? places + i * g.planes * g.out() : nullptr; };
    Index const blocks = x.blocked || y.blocked ? cpu::blocks_of(x) : 0, cost = value_cost * x.columns;
    if (blocks > 0) {
      each(blocks, block_size * cost, [&](Index first, Index last, int worker) {
        for (Index b = first; b < last; ++b) {
          cpu::pool_block(g, x, y, places, b, scratch_of(worker));
          cpu::finish_block(y, post_ops, b);
        }
      });
    }
    finish_rows(y, post_ops, blocks, 1, cost,
                [&](Index i, Index, float* own) { cpu::pool(g, x.row(i), y.row(i), places_of(i), own); });
  }
  /// dx = derivative(the gradient with respect to x)
  template <class DY, class DX, class Chain>
  void pool_gradient(PoolingGeometry const& g, DY dy, float const* places, DX dx,
                     Derivative<Chain, float> const& derivative) const {
    auto const places_of = [&](Index i) { return places ? places + i * g.planes * g.out() : nullptr; };
    Index const blocks = dx.blocked || dy.blocked ? cpu::blocks_of(dy) : 0, cost = value_cost * dx.columns;
    if (blocks > 0) {
      each(blocks, block_size * cost, [&](Index first, Index last, int worker) {
        for (Index b = first; b < last; ++b) {
          cpu::pool_block_gradient(g, dy, places, dx, b, scratch_of(worker));
          cpu::zero_padding(dx, b);
          cpu::finish_block(dx, derivative, b);
        }
      });
    }
    finish_rows(dx, derivative, blocks, 1, cost, [&](Index i, Index, float* own) {
      cpu::zero_from(dx.columns, cpu::some(dx, i, 1));
      cpu::pool_gradient(g, dy.row(i), places_of(i), dx.row(i), own);
    });
  }
  /// y = post_ops(x); y may be x.
  template <class X, class Y, class Chain, class Join>
  void map(X x, Y y, PostOps<Chain, float, Join> const& post_ops) const {
    cpu::for_blocked_rows(y, [&](auto part) {
      auto const from = part(x);
      auto const epilogue = cpu::epilogue_of(part(y), part(post_ops));
      each_row(from, [&](Index i) { cpu::pass_row(from.row(i), from.columns, epilogue, i); });
    });
  }
  /// The same for a block of a stream's steps.
  template <class X, class Y, class Chain, class Join>
  void map(X x, Y y, SignalPostOps<Chain, float, Join> const& post_ops) const {
    cpu::map_signal(cpu::signal_map(x, y, post_ops));
  }
  template <class X, class Y>
  requires is_signal<Y>
  void copy(X from, Y to) const { map(from, to, SignalPostOps<Chain<>, float, NoJoin>{}); }
  /// dx = derivative(dy); dx may be dy.
  template <class DY, class DX, class Chain, class Adds>
  void map_gradient(DY dy, DX dx, Derivative<Chain, float, Adds> const& derivative) const {
    cpu::for_blocked_rows(dx, [&](auto part) {
      auto const from = part(dy);
      auto const epilogue = cpu::epilogue_of(part(dx), part(derivative));
      each_row(from, [&](Index i) { cpu::pass_row(from.row(i), from.columns, epilogue, i); });
    });
  }
  /// dx = derivative(dx + dy)
  template <class DY, class DX, class Chain>
  void add_gradient(DY dy, DX dx, Derivative<Chain, float> const& derivative) const {
    map_gradient(dy, dx, derivative.adding(std::true_type{}));
  }
  /// dx = derivative(dy times the derivative of a join's value with respect to its first operand, or to its second). a
  /// and b are read only where the join needs them.
  template <class L, class DY, class A, class B, class DX, class Chain, class Adds>
  void join_gradient(L const& layer, bool second, DY dy, A a, B b, DX dx,
                     Derivative<Chain, float, Adds> const& derivative) const {
    auto const op = layer.join();
    cpu::for_blocked_rows(dx, [&](auto part) {
      auto const from = part(dy);
      auto const first = part(a);
      auto const other = part(b);
      auto const epilogue = cpu::epilogue_of(part(dx), part(derivative));
      each_row(from, [&](Index i) {
        for (Index c = 0; c < from.columns; c += cpu::lanes) {
          Index const left = from.columns - c;
          cpu::Vector x{}, y{};
          if constexpr (std::remove_cvref_t<decltype(op)>::needs_inputs)
            x = cpu::load_row(first.row(i) + c, left), y = cpu::load_row(other.row(i) + c, left);
          cpu::Vector const d = second ? op.second(x, y) : op.first(x, y);
          cpu::Vector v[1][1] = {{cpu::load_row(from.row(i) + c, left) * d}};
          epilogue.finish(v, i, c);
        }
      });
    });
  }
  /// dt, the gradient of the summed loss with respect to the targets.
  template <class LossType, class Y, class Target, class DT>
  void loss_target_gradient(LossType const& loss, Y y, Target target, DT dt) const {
    each_row(y, [&](Index i) {
      cpu::for_row(y.columns, [&](Index c, Index left) {
        cpu::Vector const v = cpu::load_row(y.row(i) + c, left), t = cpu::load_row(target.row(i) + c, left);
        cpu::store_row(dt.row(i) + c, cpu::masked(loss.target_gradient(v, t), left, 0), cpu::writable(dt) - c);
      });
    });
  }
  /// y = softmax or log softmax of each row; y may be x.
  template <class X, class Y>
  void normalize(Normalization kind, X x, Y y) const {
    each_row(x, [&](Index i) { cpu::normalize_row(kind, x.row(i), y.row(i), x.columns); });
  }
  /// Computes dx from y and dy; dx may be dy.
  template <class Y, class DY, class DX>
  void normalize_gradient(Normalization kind, Y y, DY dy, DX dx) const {
    each_row(y, [&](Index i) {
      cpu::normalize_gradient_row(kind, y.row(i), dy.row(i), dx.row(i), y.columns, cpu::writable(dx));
    });
  }
  /// y = normalised x, dx = gradient of the summed loss with respect to x; returns the mean loss. One pass over each
  /// row. y may be x.
  template <class LossType, class X, class Y, class Target, class DX>
  float loss(LossType const& loss, Normalization kind, X x, Y y, Target target, DX dx) const {
    cpu::Vector const total = sum_of<cpu::Vector>(x.rows, product_of(x.columns, Fixed<value_cost>{}), [&](Index i) {
      if (kind != Normalization::none) cpu::normalize_row(kind, x.row(i), y.row(i), x.columns);
      cpu::Vector const value = cpu::loss_row(loss, y.row(i), target.row(i), dx.row(i), y.columns, cpu::writable(dx));
      if (kind != Normalization::none)
        cpu::normalize_gradient_row(kind, y.row(i), dx.row(i), dx.row(i), x.columns, cpu::writable(dx));
      return value;
    });
    return cpu::sum(total) / static_cast<float>(x.rows);
  }
  /// All time steps of one part of a recurrent layer: h, and in r.kept what backward needs.
  template <bool fast = false, class R>
  COLDPRESS_INLINE void recurrent(R const& r, float const* weights) const {
    cpu::with_cell(cpu::cell_of(r), [&](auto cell) COLDPRESS_INLINE_LAMBDA {
      if (r.x.samples == 1) return cpu::recurrent<cell, fast, R::other_inputs>(r, weights);
      each_samples(r, [&](Index first, Index count) {
        auto const some = r.some(first, count);
        if (some.x.samples == 1) __builtin_unreachable();
        cpu::recurrent<cell, fast, R::other_inputs>(some, weights);
      });
    });
  }
  /// A block of a stream's steps of one layer.
  template <bool fast = false, class R>
  COLDPRESS_INLINE void recurrent(SignalRecurrence<R> const& s) const {
    cpu::with_cell(cpu::cell_of(s.r), [&](auto cell) COLDPRESS_INLINE_LAMBDA { cpu::recurrent_signal<cell, fast>(s); });
  }
  /// The backward pass of the same: r.gradients receives the gradients of the gates' sums. `upper` is the gradient of h
  /// from the layer above, either for all steps or for the last one only. What flows from a step to the one before is
  /// cut every `truncation` steps, counted from the end.
  template <class R>
  void recurrent_gradient(R const& r, float const* weights, Sequence<float const> const& upper,
                          Index truncation) const {
    RecurrentWeights const& w = r.weights;
    transpose(w.hidden, w.gates * r.units(),
              weights + recurrent_part(w, r.part) + w.inputs(r.part) * recurrent_pitch(w), recurrent_pitch(w), scratch,
              pitch(w.hidden));
    cpu::with_cell(cpu::cell_of(r), [&](auto cell) COLDPRESS_INLINE_LAMBDA {
      each_samples(r, [&](Index first, Index count) {
        cpu::recurrent_gradient<cell, R::other_inputs>(r.some(first, count), cpu::hidden_of(r), scratch,
                                                       upper.some(first, count), truncation);
      });
    });
  }
  /// The gradient of a part's input, from the gradients of its sums. dx has one row per sample and step.
  template <class R>
  void recurrent_input_gradient(R const& r, float const* weights, Rows<float> dx) const {
    Index const units = r.units(), gates = r.weights.gates;
    auto const inputs = cpu::inputs_of(r);
    auto const columns = cpu::gate_columns(r);
    if (inputs > 0) {
      product(Rows<float const, Index, std::remove_const_t<decltype(columns)>>{r.gradients.data, dx.rows, columns,
                                                                               r.gradients.sample_pitch},
              weights + recurrent_part(r.weights, r.part),
              Rows<float, Index, std::remove_const_t<decltype(inputs)>>{dx.data, dx.rows, inputs, dx.pitch},
              Derivative<Chain<>, float>{});
      return;
    }
    for (Index q = 0; q < gates; ++q) {
      cpu::copy({r.gradients.data + q * units, dx.rows, 1, dx.columns, r.gradients.sample_pitch, 0},
                {dx.data, dx.rows, 1, dx.columns, dx.pitch, 0}, q > 0);
    }
  }
  /// The gradients of a part's weights, from the gradients of its sums. The steps and samples of r.x and r.h form one
  /// matrix.
  template <class R, class Sink>
  void recurrent_weight_gradient(R const& r, Sink const& sink) const {
    RecurrentWeights const& w = r.weights;
    auto const inputs = cpu::inputs_of(r);
    auto const hidden = cpu::hidden_of(r);
    auto const columns = cpu::gate_columns(r);
    using Gradients = Rows<float const, Index, std::remove_const_t<decltype(columns)>>;
    Index const samples = r.x.samples, rows = samples * r.x.steps, later = r.has_initial ? rows : rows - samples,
                pitch = r.gradients.sample_pitch;
    Sink const part = sink.at(recurrent_part(w, r.part));
    auto const row = [&](Index n) { return part.at(n * recurrent_pitch(w)); };
    Gradients const of_x{r.gradients.data, rows, columns, pitch};
    Index const skipped = w.gates == 3 ? r.units() : 0;  // the terms of h are added to the last sums
    Gradients const of_h{r.gradients.data + skipped, rows, columns, pitch};
    Index const to = r.reversed || r.has_initial ? 0 : samples, h_from = to + (r.reversed ? samples : -samples);
    if (inputs > 0) {
      weight_gradient(
          Rows<float const, Index, std::remove_const_t<decltype(inputs)>>{r.x.data, rows, inputs, r.x.sample_pitch},
          of_x, row(0));
    }
    using States = Rows<float const, Index, std::remove_const_t<decltype(hidden)>>;
    States const before{r.h.data + h_from * r.h.sample_pitch, later, hidden, r.h.sample_pitch};
    cpu::either(
        cpu::is_reset_before(cpu::cell_of(r)),
        [&] {  // n is a product with r∘h, not with h
          Index const gates = 2 * r.units();
          auto const reset = r.reset_state();
          weight_gradient(before, Rows<float const>{of_h.row(to), later, gates, pitch}, row(inputs),
                          recurrent_pitch(w));
          weight_gradient(States{reset.data + to * reset.sample_pitch, later, hidden, reset.sample_pitch},
                          Rows<float const>{of_h.row(to) + gates, later, r.units(), pitch}, row(inputs).at(gates),
                          recurrent_pitch(w));
        },
        [&] {
          weight_gradient(before, Gradients{of_h.row(to), later, columns, pitch}, row(inputs));
        });
    float* const sums = scratch;  // summed once, because a pass over the gradients costs as much as reading them
    sum_rows(Rows<float const>{r.gradients.data, rows, skipped + columns, pitch}, GradientSink<float>{sums});
    cpu::apply_gradient(row(inputs + w.hidden), sums, columns);
    cpu::apply_gradient(row(inputs + w.hidden + 1), sums + skipped, columns);
  }
  /// Scaled dot-product attention. Heads of keys and values are divided among the threads.
  template <class A>
  void attend(A const& a) const {
    AttentionGeometry const& g = a.geometry;
    if (a.state) {
      for (Index n = 0; n < a.samples; ++n) {
        for (Index t = 0; t < g.queries; ++t) attend(continued(a, n, t));
      }
      return;
    }
    each(a.samples * g.kv_heads, g.products() / g.kv_heads, [&](Index first, Index last, int worker) {
      for (Index i = first; i < last; ++i) cpu::attend(a, i / g.kv_heads, i % g.kv_heads, scratch_of(worker));
    });
  }
  /// Its gradients. If they include that of a mask, which heads may share, whole samples are divided among the threads.
  template <class A, class Gradients>
  void attend_gradient(A const& a, Gradients const& to) const {
    AttentionGeometry const& g = a.geometry;
    Index const at_once = to.dmask.data ? g.kv_heads : 1;
    each(a.samples * g.kv_heads / at_once, 3 * at_once * g.products() / g.kv_heads,
         [&](Index first, Index last, int worker) {
           for (Index i = first * at_once; i < last * at_once; ++i) {
             Index const n = i / g.kv_heads, head = i % g.kv_heads;
             if (to.dmask.data && head == 0) cpu::clear_mask(g, to.dmask, n);
             cpu::attend_gradient(a, to, n, head, scratch_of(worker));
           }
         });
  }
  /// to = from, or to += from.
  void copy(Sequence<float const> const& from, Sequence<float> const& to, bool add = false) const {
    cpu::copy(from, to, add);
  }
  /// Passes a complete gradient of `size` values, or what a running statistic observed, to the sink.
  template <class Sink>
  void apply_gradient(float const* gradient, Index size, Sink const& sink) const {
    constexpr Index line = 16;  // numbers
    each(cpu::parts_of(size, line), line * value_cost, [&](Index first, Index last, int) {
      cpu::apply_gradient(sink.at(first * line), gradient + first * line,
                          freestanding::min(last * line, size) - first * line);
    });
  }
  /// Scales each unit's weights down to the L2 norm `most` if theirs is larger.
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
  /// The sum of squares of a flat buffer.
  double squared_norm(float const* values, Index size) const {
    return sum_of<double>(cpu::parts_of(size, cpu::lanes), cpu::lanes, [&](Index i) {
      cpu::Vector const v = cpu::load(values + i * cpu::lanes);
      return static_cast<double>(cpu::sum(v * v));
    });
  }

 private:
  /// epilogue(sum of the rows of x), where add(sum, row, column) adds one term.
  template <class X, class Epilogue, class Add>
  void sum_rows_of(X x, Epilogue const& epilogue, Add add) const {
    constexpr int most = cpu::tile_columns;
    auto const vectors = cpu::vectors(x.columns);
    each(cpu::parts_of(vectors, Fixed<most>{}), product_of(x.rows, Fixed<value_cost * most * cpu::lanes>{}),
         [&](Index first, Index last, int) {
           cpu::split<most>(
               vectors,
               [&](Index v, auto w) COLDPRESS_INLINE_LAMBDA {
                 cpu::Vector sum[1][w] = {};
                 for (Index i = 0; i < x.rows; ++i) {
                   cpu::unroll<w>([&](auto j) COLDPRESS_INLINE_LAMBDA { add(sum[0][j], i, (v + j) * cpu::lanes); });
                 }
                 epilogue.finish(sum, 0, v * cpu::lanes);
               },
               {first, last});
         });
  }
  /// It takes copies and is not inlined: if other threads could see the caller's values, these would have to be in
  /// memory in a stream's step, too.
  template <class X, class Y, class Chain, class Join>
  __attribute__((noinline)) static void convolve_sequences(Context context, ConvolutionGeometry g, X x,
                                                           float const* weight, float const* bias, Y y,
                                                           PostOps<Chain, float, Join> post_ops) {
    context.each(x.rows, g.products(), [&](Index first, Index last, int worker) {
      cpu::convolve_sequences(g, cpu::some(x, first, last - first), weight, bias, y, post_ops, first,
                              context.scratch_of(worker));
    });
  }
  /// Planes of the output are divided among the threads.
  template <class X, class Y, class Chain, class Join>
  void convolve_volumes(VolumeGeometry const& g, X x, float const* weight, float const* bias, Y y,
                        PostOps<Chain, float, Join> const& post_ops) const {
    cpu::VolumePlanes const planes{g.of_planes()};
    each_planes(x.rows * g.depth.out, planes.images, g.products() / g.depth.out,
                [&](Index first, Index count, int worker) {
                  cpu::convolve_planes(g, planes, x, weight, bias, y, first, count, scratch_of(worker));
                });
    if (!post_ops.empty()) map(y, y, post_ops);
  }
  /// dx = the gradient with respect to x + bias, or with `adds` what is added to dx; its planes are divided among the
  /// threads.
  template <class DY, class DX>
  void volumes_input_gradient(VolumeGeometry const& g, DY dy, float const* weight, float const* bias, DX dx,
                              bool adds) const {
    cpu::VolumePlanes const planes{g.of_tap(), true};
    Index const ordered = g.depth.filter > 1 ? g.terms() * pitch(g.outputs) : 0;
    if (ordered > 0) {
      each(g.terms(), pitch(g.outputs) * value_cost,
           [&](Index first, Index last, int) { cpu::order_by_tap(g, weight, first, last, scratch); });
    }
    each_planes(dx.rows * g.depth.in, planes.images, g.products() / g.depth.in,
                [&](Index first, Index count, int worker) {
                  cpu::planes_input_gradient(g, planes, dy, ordered > 0 ? scratch : weight, bias, dx, adds, first,
                                             count, scratch_of(worker, ordered));
                });
  }
  /// f(first, count, worker) for all planes, of which `at_once` are computed together. `cost` is that of one plane.
  template <class F>
  void each_planes(Index planes, Index at_once, Index cost, F const& f) const {
    each(cpu::parts_of(planes, at_once), at_once * cost, [&](Index first, Index last, int worker) {
      for (Index i = first * at_once; i < freestanding::min(last * at_once, planes); i += at_once)
        f(i, freestanding::min(at_once, planes - i), worker);
    });
  }
  template <class X, class Y, class Chain, class Join, class Windows>
  void convolve_images(ConvolutionGeometry const& g, X x, float const* weight, float const* bias, Y y,
                       PostOps<Chain, float, Join> const& post_ops, Windows const& windows) const {
    auto const to = cpu::behind<float>(windows, y, post_ops);
    auto const rest = cpu::left(windows, post_ops);
    Index const blocks = g.in_blocks() ? cpu::blocks_of(x) : 0, packed = padded_size(g.terms() * g.outputs);
    if (blocks > 0) {
      cpu::pack_weights(g, weight, scratch);
      each(blocks, block_size * g.products(), [&](Index first, Index last, int worker) {
        for (Index b = first; b < last; ++b) {
          cpu::convolve_block(g, x, scratch, bias, to, b, scratch_of(worker, packed));
          cpu::finish_block(y, rest, b);
        }
      });
    }
    finish_rows(y, rest, blocks, cpu::Panel{g}.images, g.products(), [&](Index i, Index count, float* own) {
      cpu::write_images(to, i, count, own, [&](Rows<float> z, float* free) {
        cpu::convolve_images(g, cpu::some(x, i, count), weight, bias, z, free);
      });
    });
  }
  template <class DY, class DX, class Chain, class Adds, class Windows>
  void images_input_gradient(ConvolutionGeometry const& g, DY dy, float const* weight, DX dx,
                             Derivative<Chain, float, Adds> const& derivative, Windows const& windows) const {
    auto const from = cpu::behind<float const>(windows, dy);
    auto const rest = derivative.adding(std::false_type{});  // when the sums have been added to dx
    Index const blocks = g.in_blocks() ? cpu::blocks_of(dy) : 0, packed = padded_size(g.terms() * g.outputs);
    if (blocks > 0) {
      cpu::pack_weights_back(g, weight, scratch);
      each(blocks, block_size * g.products(), [&](Index first, Index last, int worker) {
        for (Index b = first; b < last; ++b) {
          cpu::convolve_block_back(g, from, scratch, dx, b, derivative.adds, scratch_of(worker, packed));
          cpu::zero_padding(dx, b);
          cpu::finish_block(dx, rest, b);
        }
      });
    }
    finish_rows(dx, rest, blocks, cpu::Panel{g, true}.images, g.products(), [&](Index i, Index count, float* own) {
      Rows<float> const to = cpu::some(dx, i, count), sums = derivative.adds ? cpu::rows_for(to, own) : to;
      cpu::zero_from(0, sums);
      Rows<float const> const part = cpu::read_images(from, i, count, own);
      cpu::image_input_gradient(g, part, weight, sums, own);
      if (derivative.adds) cpu::add_rows(sums, to);
    });
  }
};
static_assert(concepts::Backend<Cpu>);

}  // namespace COLDPRESS_ISA
}  // namespace coldpress
