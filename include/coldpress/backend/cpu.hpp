// The fast CPU backend: fused and vectorised, row-major matrices with padded rows, weights as {in, out}.
#pragma once

#include <coldpress/backend/attention.hpp>
#include <coldpress/backend/concept.hpp>
#include <coldpress/backend/convolution.hpp>
#include <coldpress/backend/convolution_step.hpp>
#include <coldpress/backend/image_weight_gradient.hpp>
#include <coldpress/backend/pooled_rows.hpp>
#include <coldpress/backend/recurrent_gradient.hpp>
#include <coldpress/backend/recurrent_signal.hpp>
#include <coldpress/backend/row_primitives.hpp>
#include <coldpress/backend/sequence_weight_gradient.hpp>
#include <coldpress/backend/signals.hpp>
#include <coldpress/backend/volume_convolution.hpp>

namespace coldpress {
inline namespace COLDPRESS_ISA {

/// All primitives: those on rows, and those on images, sequences and signals.
struct Cpu : cpu::RowPrimitives {
  static constexpr bool compiles_variants = true, has_signals = true;
  using RowPrimitives::map;

  /// y = post_ops(x * W + b), where * is the cross-correlation. Sequences continue from `state`. bias may be null.
  template <class G, class X, class Y, class Chain, class Join, class State, class Windows = NoWindows>
  COLDPRESS_INLINE void convolve(G const& g, X x, float const* weight, float const* bias, Y y,
                                 PostOps<Chain, float, Join> const& post_ops, State state,
                                 Windows const& windows = {}) const {
    if constexpr (!is_no_state<State>) {
      if (is_of<ConvolutionKind::sequence>(g) && state && g.past() > 0)
        return cpu::convolve_stream(g, x, cpu::convolution_step(g, x, weight, bias, y, post_ops, state));
    }
    cpu::either(
        is_of<ConvolutionKind::sequence>(g),
        [&](auto...) COLDPRESS_INLINE_LAMBDA {
          if (cpu::is_one_step(g, x))  // no panel is needed
            return cpu::convolve_step<1, true, false>(cpu::convolution_step(g, x, weight, bias, y, post_ops, nullptr));
          convolve_sequences<cpu::sequence_kernels<G>>(*this, g, x, weight, bias, y, post_ops);
        },
        [&](auto...) COLDPRESS_INLINE_LAMBDA {
          cpu::either(
              is_of<ConvolutionKind::volume>(g),
              [&](auto...) COLDPRESS_INLINE_LAMBDA { convolve_volumes(g, x, weight, bias, y, post_ops); },
              [&](auto...) COLDPRESS_INLINE_LAMBDA {
                convolve_images<cpu::image_kernels<G>>(g, x, weight, bias, y, post_ops, windows);
              });
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
        [&](auto...) {
          each_share(4, dy.rows, g.products(), [&](Index first, Index last, int worker) {
            cpu::zero_from(dx.columns, cpu::some(dx, first, last - first));
            cpu::sequence_input_gradient<cpu::sequence_kernels<G>>(g, cpu::some(dy, first, last - first), weight, dx,
                                                                   derivative, first, scratch_of(worker));
          });
        },
        [&](auto...) {
          cpu::either(
              is_of<ConvolutionKind::volume>(g),
              [&](auto...) {
                volumes_input_gradient(g, dy, weight, nullptr, dx, derivative.adds);
                cpu::zero_from(dx.columns, dx);
                auto const rest = derivative.adding(std::false_type{});
                if (!rest.empty()) map_gradient(dx, dx, rest);
              },
              [&](auto...) { images_input_gradient<cpu::image_kernels<G>>(g, dy, weight, dx, derivative, windows); });
        });
  }
  /// y = post_ops(the transposed convolution of x, + b): the input gradient of g if x were dy. bias may be null. Blocks
  /// of images, whose sums have another order, are not used: the bits of a sample do not depend on the batch.
  template <class G, class X, class Y, class Chain, class Join>
  void convolve_transposed(G const& g, X x, float const* weight, float const* bias, Y y,
                           PostOps<Chain, float, Join> const& post_ops) const {
    cpu::either(
        is_of<ConvolutionKind::sequence>(g),
        [&](auto...) {
          each_share(4, x.rows, g.products(), [&](Index first, Index last, int worker) {
            cpu::fill_steps(g.channels, bias, cpu::some(y, first, last - first));
            cpu::sequence_input_gradient<cpu::sequence_kernels<G>>(
                g, cpu::some(x, first, last - first), weight, y,
                Derivative<coldpress::Chain<>, float, std::true_type>{}, first, scratch_of(worker));
            cpu::finish(y, post_ops, first, last - first);
          });
        },
        [&](auto...) {
          cpu::either(
              is_of<ConvolutionKind::volume>(g),
              [&](auto...) {
                volumes_input_gradient(g, x, weight, bias, y, false);
                if (!post_ops.empty()) map(y, y, post_ops);
              },
              [&](auto...) {
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
        [&](auto...) {
          constexpr auto kernels = cpu::sequence_kernels<G>;
          cpu::sequence_weight_gradient<kernels>(*this, g, x, dy, gradient, sums, all);
        },
        [&](auto...) {
          cpu::either(
              is_of<ConvolutionKind::volume>(g), [&](auto...) { cpu::volume_weight_gradient(*this, g, x, dy, sums); },
              [&](auto...) {
                constexpr auto kernels = cpu::image_kernels<G>;
                Index const blocks = g.in_blocks() ? cpu::blocks_of(x) : 0, first = blocks * block_size,
                            rest = x.rows - first;
                auto const from = cpu::behind<float const>(windows, dy);
                if (blocks > 0) cpu::block_weight_gradient<kernels>(*this, g, x, from, blocks, all, sums);
                if (rest > 0) {
                  float* free = gradient + all;
                  Rows<float const> const part = cpu::read_images(from, first, rest, free);
                  cpu::image_weight_gradient<kernels>(*this, g, cpu::some(x, first, rest), part, free - gradient, sums);
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
  /// y = post_ops(x) for a block of a stream's steps.
  template <class X, class Y, class Chain, class Join>
  void map(X x, Y y, SignalPostOps<Chain, float, Join> const& post_ops) const {
    cpu::map_signal(cpu::signal_map(x, y, post_ops));
  }
  template <class X, class Y>
  requires is_signal<Y>
  void copy(X from, Y to) const { map(from, to, SignalPostOps<Chain<>, float, NoJoin>{}); }
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
  /// A block of a stream's steps of one layer or two.
  template <bool fast = false, class R>
  COLDPRESS_INLINE void recurrent(SignalRecurrence<R> const& s) const {
    cpu::with_cell(cpu::cell_of(s.layers[0].r),
                   [&](auto cell) COLDPRESS_INLINE_LAMBDA { cpu::recurrent_signal<cell, fast>(s); });
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
        [&](auto...) {  // n is a product with r∘h, not with h
          Index const gates = 2 * r.units();
          auto const reset = r.reset_state();
          weight_gradient(before, Rows<float const>{of_h.row(to), later, gates, pitch}, row(inputs),
                          recurrent_pitch(w));
          weight_gradient(States{reset.data + to * reset.sample_pitch, later, hidden, reset.sample_pitch},
                          Rows<float const>{of_h.row(to) + gates, later, r.units(), pitch}, row(inputs).at(gates),
                          recurrent_pitch(w));
        },
        [&](auto...) {
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

 private:
  /// It takes copies and is not inlined: if other threads could see the caller's values, these would have to be in
  /// memory in a stream's step, too.
  template <cpu::SequenceKernels kernels, class X, class Y, class Chain, class Join>
  __attribute__((noinline)) static void convolve_sequences(Context context, ConvolutionGeometry g, X x,
                                                           float const* weight, float const* bias, Y y,
                                                           PostOps<Chain, float, Join> post_ops) {
    context.each_share(4, x.rows, g.products(), [&](Index first, Index last, int worker) {
      cpu::convolve_sequences<kernels>(g, cpu::some(x, first, last - first), weight, bias, y, post_ops, first,
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
  template <cpu::ImageKernels kernels, class X, class Y, class Chain, class Join, class Windows>
  void convolve_images(ConvolutionGeometry const& g, X x, float const* weight, float const* bias, Y y,
                       PostOps<Chain, float, Join> const& post_ops, Windows const& windows) const {
    auto const to = cpu::behind<float>(windows, y, post_ops);
    auto const rest = cpu::left(windows, post_ops);
    Index const blocks = g.in_blocks() ? cpu::blocks_of(x) : 0, packed = padded_size(g.terms() * g.outputs);
    if (blocks > 0) {
      cpu::pack_weights(g, weight, scratch);
      each(blocks, block_size * g.products(), [&](Index first, Index last, int worker) {
        for (Index b = first; b < last; ++b) {
          cpu::convolve_block<kernels>(g, x, scratch, bias, to, b, scratch_of(worker, packed));
          cpu::finish_block(y, rest, b);
        }
      });
    }
    finish_rows(y, rest, blocks, cpu::Panel{g}.images, g.products(), [&](Index i, Index count, float* own) {
      cpu::write_images(to, i, count, own, [&](Rows<float> z, float* free) {
        cpu::convolve_images<kernels>(g, cpu::some(x, i, count), weight, bias, z, free);
      });
    });
  }
  template <cpu::ImageKernels kernels, class DY, class DX, class Chain, class Adds, class Windows>
  void images_input_gradient(ConvolutionGeometry const& g, DY dy, float const* weight, DX dx,
                             Derivative<Chain, float, Adds> const& derivative, Windows const& windows) const {
    auto const from = cpu::behind<float const>(windows, dy);
    auto const rest = derivative.adding(std::false_type{});  // when the sums have been added to dx
    Index const blocks = g.in_blocks() ? cpu::blocks_of(dy) : 0, packed = padded_size(g.terms() * g.outputs);
    if (blocks > 0) {
      cpu::pack_weights_back(g, weight, scratch);
      each(blocks, block_size * g.products(), [&](Index first, Index last, int worker) {
        for (Index b = first; b < last; ++b) {
          cpu::convolve_block_back<kernels>(g, from, scratch, dx, b, derivative.adds, scratch_of(worker, packed));
          cpu::zero_padding(dx, b);
          cpu::finish_block(dx, rest, b);
        }
      });
    }
    finish_rows(dx, rest, blocks, cpu::Panel{g, true}.images, g.products(), [&](Index i, Index count, float* own) {
      Rows<float> const to = cpu::some(dx, i, count), sums = derivative.adds ? cpu::rows_for(to, own) : to;
      cpu::zero_from(0, sums);
      Rows<float const> const part = cpu::read_images(from, i, count, own);
      cpu::image_input_gradient<kernels>(g, part, weight, sums, own);
      if (derivative.adds) cpu::add_rows(sums, to);
    });
  }
};
static_assert(concepts::Backend<Cpu>);

}  // namespace COLDPRESS_ISA
}  // namespace coldpress
