// The GPU's backend, whose primitives are executed by all threads of the GPU together.
#pragma once

// Every thread calls each primitive with the same arguments. The primitive divides the work among the threads and
// begins with a barrier where one is needed. On a host the threads are loops with the same arithmetic, so tests can
// compare them with the reference. Results do not depend on the number of blocks and no sums are atomic: the bits are
// the same every time.

#include <coldpress/backend/concept.hpp>
#include <coldpress/backend/grid/convolution.hpp>
#include <coldpress/backend/grid/multiply.hpp>
#include <coldpress/backend/grid/recurrent.hpp>
#include <coldpress/backend/grid/rows.hpp>
#include <coldpress/core/along.hpp>

namespace coldpress {

/// The layout of parameters and rows on a GPU: parameters are in canonical order, rows start at multiples of 16 bytes.
struct GridLayout {
  static constexpr Index pitch(Index n) { return (n + 3) / 4 * 4; }
  static constexpr Index storage_size(Parameter const& parameter) { return (parameter.shape.size() + 3) / 4 * 4; }
  static constexpr float get(Parameter const&, float const* storage, Index element) { return storage[element]; }
  static constexpr void put(Parameter const&, float* storage, Index element, float value) { storage[element] = value; }
  static constexpr bool is_canonical(Parameter const&) { return true; }
  static constexpr Index product_scratch(Index, Index) { return 0; }
  static constexpr Index weight_gradient_scratch(Index, Index) { return 0; }
  static constexpr Index recurrent_scratch(RecurrentWeights const& w, Extent) { return w.gates * w.hidden * w.hidden; }
  static constexpr Index convolution_scratch(ConvolutionGeometry const&, Extent) { return 0; }
  static constexpr Index pooling_scratch(PoolingGeometry const&) { return 0; }
  static constexpr Index attention_scratch(AttentionGeometry const&, Extent) { return 0; }
  /// The floats for the partial results of blocks that have samples of their own, with this many values per block.
  static constexpr Index chunks_scratch(Index values) {
    return values <= grid::apart_values ? grid::cluster_blocks * pitch(values) : 0;
  }
  /// The number of threads that may each process a range alone with this many floats of scratch, limited by a total of
  /// 2^24 floats.
  static constexpr int workers_for(Index own) {
    return own == 0 ? 1 << 30 : static_cast<int>(freestanding::within<Index>((1 << 24) / own, 1, 4096));
  }
};

struct Grid : grid::ThreadGroup, GridLayout {
  using Scalar = float;
  static constexpr bool many_threads = true;
  float* scratch = nullptr;               // as much as scratch_of(layer) asks for
  int workers = 1;                        // at most this many threads process a range alone: Extent::workers
  Index own_scratch = 0;                  // of each of these, in floats
  Precision precision = Precision::fp32;  // of the products of dense layers and convolutions

  /// y = post_ops(x Wᵀ + b)
  template <class X, class Y, class Chain, class Join>
  constexpr void affine(X x, float const* weight, float const* bias, Y y,
                        PostOps<Chain, float, Join> const& post_ops) const {
    grid::multiply(*this, {1, y.rows, y.columns, x.columns, precision}, grid::Matrix<true>{x.data, x.pitch, 1},
                   grid::Matrix<true>{weight, 1, x.columns},
                   [&](Index, Index i, Index j, float sum) { store(y, post_ops, i, j, bias ? sum + bias[j] : sum); });
  }
  /// dx = derivative(dy W)
  template <class DY, class DX, class Chain>
  constexpr void product(DY dy, float const* weight, DX dx, Derivative<Chain, float> const& derivative) const {
    grid::multiply(*this, {1, dx.rows, dx.columns, dy.columns, precision}, grid::Matrix<true>{dy.data, dy.pitch, 1},
                   grid::Matrix<false>{weight, dx.columns, 1},
                   [&](Index, Index i, Index j, float sum) { store(dx, derivative, i, j, sum); });
  }
  /// sink(dyᵀ x), as {out, in}
  template <class X, class DY, class Sink>
  constexpr void weight_gradient(X x, DY dy, Sink const& sink) const {
    Index const columns = x.columns;
    grid::multiply(*this, {1, dy.columns, columns, x.rows, precision, kind_of(sink)},
                   grid::Matrix<false>{dy.data, 1, dy.pitch}, grid::Matrix<false>{x.data, x.pitch, 1},
                   [&](Index, Index i, Index j, float sum) { sink.take(i * columns + j, sum); });
  }
  /// sink(sum of the rows of dy)
  template <class DY, class Sink>
  constexpr void sum_rows(DY dy, Sink const& sink) const {
    each_sum(
        dy.columns, dy.rows, 32, [&](Index j, Index i) { return dy.row(i)[j]; },
        [&](Index j, float sum) { sink.take(j, sum); }, kind_of(sink));
  }
  /// y = post_ops(x * W + b), where * is the cross-correlation. Sequences continue from `state`. bias may be null.
  template <class G, class X, class Y, class Chain, class Join, class State>
  constexpr void convolve(G const& g, X x, float const* weight, float const* bias, Y y,
                          PostOps<Chain, float, Join> const& post_ops, State state, NoWindows = {}) const {
    grid::check_rows(g);
    bool const goes_on = g.past() > 0 && g.is_sequence();
    float* const carried = goes_on ? static_cast<float*>(state) : nullptr;
    grid::with_kind(g, [&]<class Known>(Known const& known) {
      grid::multiply(*this, {g.groups, g.group_outputs(), y.rows * g.positions(), g.terms(), precision},
                     grid::Filters<Known>{known, weight}, grid::SeenAcross<Known>{{known, x.data, x.pitch, carried}},
                     [&](Index group, Index k, Index place, float sum) {
                       grid::Place const at = grid::output_place(known, place);
                       Index const output = group * g.group_outputs() + k;
                       store(y, post_ops, at.sample, grid::output_offset(known, output, at.plane, at.row, at.column),
                             bias ? sum + bias[output] : sum);
                     });
    });
    if (!carried) return;
    each(x.rows, [&](Index n) {
      RingBuffer<float> const past{carried + n * RingBuffer<float>::size(g.past(), g.channels), g.past(), g.channels};
      past.append(x.row(n), g.height.in);
    });
  }
  /// dx = derivative(the gradient with respect to x)
  template <class G, class DY, class DX, class Chain>
  constexpr void convolve_input_gradient(G const& g, DY dy, float const* weight, DX dx,
                                         Derivative<Chain, float> const& derivative, NoWindows = {}) const {
    input_gradient(g, dy, weight, dx.rows,
                   [&](Index sample, Index, Index at, float sum) { store(dx, derivative, sample, at, sum); });
  }
  /// y = post_ops(the transposed convolution of x, + b): the input gradient of g if x were dy. bias may be null.
  template <class G, class X, class Y, class Chain, class Join>
  constexpr void convolve_transposed(G const& g, X x, float const* weight, float const* bias, Y y,
                                     PostOps<Chain, float, Join> const& post_ops) const {
    grid::check_rows(g);
    input_gradient(g, x, weight, y.rows, [&](Index sample, Index channel, Index at, float sum) {
      store(y, post_ops, sample, at, bias ? sum + bias[channel] : sum);
    });
  }
  /// weights(the gradient of W), and unless `biases` is null, biases(the sum of dy over samples and positions).
  template <class G, class X, class DY, class Sink>
  constexpr void convolve_parameter_gradients(G const& g, X x, DY dy, Sink const& weights, Sink const* biases,
                                              NoWindows = {}) const {
    grid::with_kind(g, [&]<class Known>(Known const& known) {
      grid::multiply(*this,
                     {g.groups, g.group_outputs(), g.terms(), x.rows * g.positions(), precision, kind_of(weights)},
                     grid::OutputGradients<Known>{known, dy.data, dy.pitch},
                     grid::SeenDown<Known>{{known, x.data, x.pitch}}, [&](Index group, Index k, Index tap, float sum) {
                       weights.take((group * g.group_outputs() + k) * g.terms() + tap, sum);
                     });
    });
    if (biases) sum_positions(g, dy, *biases);
  }
  /// sink(sum of dy over samples and positions)
  template <class G, class DY, class Sink>
  constexpr void sum_positions(G const& g, DY dy, Sink const& sink) const {
    grid::OutputGradients<G> const gradients{g, dy.data, dy.pitch};
    each_sum(
        g.outputs, dy.rows * g.positions(), 1, [&](Index k, Index place) { return gradients.value(0, k, place); },
        [&](Index k, float sum) { sink.take(k, sum); }, kind_of(sink));
  }
  /// y = post_ops(the pooled x). For maxima, `places` receives the tap that each maximum came from.
  template <class X, class Y, class Chain, class Join>
  constexpr void pool(PoolingGeometry const& g, X x, Y y, PostOps<Chain, float, Join> const& post_ops,
                      float* places) const {
    each(y.rows * y.columns, [&](Index e) {
      Index const n = grid::quotient(e, y.columns), o = grid::remainder(e, y.columns);
      float const* const in = x.row(n) + grid::quotient(o, g.out()) * g.in();
      Volume const at = volume_of(g, grid::remainder(o, g.out()));
      float value = 0;
      Index place = -1, count = 0;
      for (Index tap = 0; tap < g.taps(); ++tap) {
        Index const from = input_of(g, at, tap);
        if (from < 0) continue;
        ++count;
        float const v = in[from];
        if (g.mode == PoolingMode::average) {
          value += v;
        } else if (place < 0 || v > value || (v != v && value == value)) {
          value = v, place = tap;
        }
      }
      if (g.mode == PoolingMode::average) value /= static_cast<float>(g.count_padding ? g.taps() : count);
      if (places && g.mode == PoolingMode::max) places[e] = static_cast<float>(place);
      store(y, post_ops, n, o, value);
    });
  }
  /// dx = derivative(the gradient with respect to x)
  template <class DY, class DX, class Chain>
  constexpr void pool_gradient(PoolingGeometry const& g, DY dy, float const* places, DX dx,
                               Derivative<Chain, float> const& derivative) const {
    each(dx.rows * dx.columns, [&](Index e) {
      Index const n = grid::quotient(e, dx.columns), i = grid::remainder(e, dx.columns),
                  plane = grid::quotient(i, g.in()), within = grid::remainder(i, g.in());
      Index const x = grid::remainder(within, g.width.in), line = grid::quotient(within, g.width.in),
                  y = grid::remainder(line, g.height.in), z = grid::quotient(line, g.height.in);
      float sum = 0;
      for (Index tap = g.taps() - 1; tap >= 0; --tap) {  // the windows in their order
        Index const k = grid::output_of(g.width, x, tap % g.width.filter),
                    j = grid::output_of(g.height, y, tap / g.width.filter % g.height.filter),
                    d = grid::output_of(g.depth, z, tap / g.width.filter / g.height.filter);
        if (k < 0 || j < 0 || d < 0) continue;
        Index const o = plane * g.out() + (d * g.height.out + j) * g.width.out + k;
        if (g.mode == PoolingMode::average) {
          sum += dy.row(n)[o] / static_cast<float>(window_size(g, d, j, k));
        } else if (places[n * dy.columns + o] == static_cast<float>(tap)) {
          sum += dy.row(n)[o];
        }
      }
      store(dx, derivative, n, i, sum);
    });
  }
  /// y = post_ops(x); y may be x.
  template <class X, class Y, class Chain, class Join>
  constexpr void map(X x, Y y, PostOps<Chain, float, Join> const& post_ops) const {
    each_value(y, [&](Index i, Index j) { store(y, post_ops, i, j, x.row(i)[j]); });
  }
  /// dx = derivative(dy); dx may be dy.
  template <class DY, class DX, class Chain>
  constexpr void map_gradient(DY dy, DX dx, Derivative<Chain, float> const& derivative) const {
    each_value(dx, [&](Index i, Index j) { store(dx, derivative, i, j, dy.row(i)[j]); });
  }
  /// dx = derivative(dx + dy)
  template <class DY, class DX, class Chain>
  constexpr void add_gradient(DY dy, DX dx, Derivative<Chain, float> const& derivative) const {
    each_value(dx, [&](Index i, Index j) { store(dx, derivative, i, j, dx.row(i)[j] + dy.row(i)[j]); });
  }
  /// dx = derivative(dy times the derivative of a join's value with respect to its first operand, or to its second). a
  /// and b are read only where the join needs them.
  template <class L, class DY, class A, class B, class DX, class Chain>
  constexpr void join_gradient(L const& layer, bool second, DY dy, A a, B b, DX dx,
                               Derivative<Chain, float> const& derivative) const {
    auto const op = layer.join();
    each_value(dx, [&](Index i, Index j) {
      float x = 0, y = 0;
      if constexpr (decltype(layer.join())::needs_inputs) x = a.row(i)[j], y = b.row(i)[j];
      store(dx, derivative, i, j, dy.row(i)[j] * (second ? op.second(x, y) : op.first(x, y)));
    });
  }
  /// dt, the gradient of the summed loss with respect to the targets.
  template <class LossType, class Y, class Target, class DT>
  constexpr void loss_target_gradient(LossType const& loss, Y y, Target target, DT dt) const {
    each_value(dt, [&](Index i, Index j) { dt.row(i)[j] = loss.target_gradient(y.row(i)[j], target.row(i)[j]); });
  }
  /// y = softmax or log softmax of each row; y may be x.
  template <class X, class Y>
  constexpr void normalize(Normalization kind, X x, Y y) const {
    grid::each_row(*this, x.rows, x.columns, grid::normalizing(kind, x, y));
  }
  /// Computes dx from y and dy; dx may be dy.
  template <class Y, class DY, class DX>
  constexpr void normalize_gradient(Normalization kind, Y y, DY dy, DX dx) const {
    auto const derivative = [dy](Index i, Index j) { return dy.row(i)[j]; };
    grid::each_row(*this, y.rows, y.columns, grid::normalizing_back(kind, y, derivative, dx));
  }
  /// y = normalised x, dx = gradient of the summed loss with respect to x; returns the mean loss. y may be x.
  template <class LossType, class X, class Y, class Target, class DX>
  constexpr float loss(LossType const& loss, Normalization kind, X x, Y y, Target target, DX dx) const {
    auto const derivative = [=](Index i, Index j) {
      if constexpr (LossType::target == Target_::label) {
        float const label = *target.row(i);
        return j == static_cast<Index>(label) ? loss.gradient(y.row(i)[j], label) : 0;
      } else {
        return loss.gradient(y.row(i)[j], target.row(i)[j]);
      }
    };
    if (kind == Normalization::none) {
      each_value(dx, [&](Index i, Index j) { dx.row(i)[j] = derivative(i, j); });
    } else {
      grid::each_row(*this, x.rows, x.columns, grid::normalizing(kind, x, y),
                     grid::normalizing_back(kind, y, derivative, dx));
    }
    double total = 0;
    if constexpr (LossType::target == Target_::label) {
      total = sum_of(x.rows,
                     [&](Index i) { return loss.value(y.row(i)[static_cast<Index>(*target.row(i))], *target.row(i)); });
    } else {
      total = sum_of(y.rows * y.columns, [&](Index e) {
        Index const i = grid::quotient(e, y.columns), j = grid::remainder(e, y.columns);
        return loss.value(y.row(i)[j], target.row(i)[j]);
      });
    }
    return static_cast<float>(total / static_cast<double>(Index{x.rows}));
  }
  /// The mean over the samples of y of a loss that is computed from whole samples.
  template <class LossType, class Y, class Target, class DY, class DT>
  constexpr float sample_losses(LossType const& loss, Shape const& in, Y y, Target t, DY dy, DT dt) const {
    double total = 0;
    if constexpr (requires { LossType::workspace; }) {  // one block per sample
      Index const blocks = freestanding::min<Index>(sum_parts, y.rows);
      total = sum_of_parts(blocks, [&](grid::Block const& block, Index part) {
        static_assert(2 * (LossType::workspace + LossType::most) <= grid::shared_values);
        double sum = 0;
        for (Index i = part; i < y.rows; i += blocks) {
          sum += static_cast<double>(loss.sample_by(grid::Together{block, block.doubles() + LossType::workspace},
                                                    block.doubles(), in, y.row(i), t.row(i), dy.row(i),
                                                    dt.data ? dt.row(i) : nullptr));
        }
        return sum;
      });
    } else {
      total = sum_of(y.rows, [&](Index i) {
        return loss.sample(in, y.row(i), t.row(i), dy.row(i), dt.data ? dt.row(i) : nullptr);
      });
    }
    return static_cast<float>(total / static_cast<double>(Index{y.rows}));
  }
  /// All time steps of one part of a recurrent layer: h, and in r.kept what backward needs.
  template <class R>
  constexpr void recurrent(R const& r, float const* weights) const {
    grid::recurrent(*this, r, weights, scratch);
  }
  /// The backward pass of the same: r.gradients receives the gradients of the gates' sums. `upper` is the gradient of h
  /// from the layer above, either for all steps or for the last one only. What flows from a step to the one before is
  /// cut every `truncation` steps, counted from the end.
  template <class R>
  constexpr void recurrent_gradient(R const& r, float const* weights, Sequence<float const> const& upper,
                                    Index truncation) const {
    grid::recurrent_gradient(*this, r, weights, upper, truncation);
  }
  /// The gradient of a part's input, from the gradients of its sums. dx has one row per sample and step.
  constexpr void recurrent_input_gradient(Recurrence<float> const& r, float const* weights, Rows<float> dx) const {
    RecurrentWeights const& w = r.weights;
    grid::GatesByStep const gates{{r, false}};
    if (w.inputs(r.part) > 0) {
      PackedPart<float const> const p{w, r.part, weights};
      grid::multiply<64>(*this, {1, dx.rows, dx.columns, w.biases()}, gates, grid::Matrix<false>{p.of_x, dx.columns, 1},
                         [&](Index, Index i, Index j, float sum) { dx.row(i)[j] = sum; });
      return;
    }
    each_value(dx, [&](Index i, Index j) {
      float sum = 0;
      for (Index q = 0; q < w.gates; ++q) sum += gates.value(0, i, q * w.hidden + j);
      dx.row(i)[j] = sum;
    });
  }
  /// sink(the gradients of a part's weights), from the gradients of its sums.
  template <class Sink>
  constexpr void recurrent_weight_gradient(Recurrence<float> const& r, Sink const& sink) const {
    RecurrentWeights const& w = r.weights;
    Index const rows = w.biases(), inputs = w.inputs(r.part), samples = r.x.samples, all = samples * r.x.steps;
    Index const start = r.has_initial ? 0 : 1;  // the first step that multiplies h
    // Those of the matrices' rows from `first` to `last`.
    auto const gradient = [&](bool of_h, Index first, Index last, grid::Before const& before) {
      Index const skipped = of_h ? start : 0, terms = all - skipped * samples;
      Index const columns = of_h ? w.hidden : inputs;
      Sink const to = sink.at(w.matrices(r.part) + (of_h ? rows * inputs : 0) + first * columns);
      grid::multiply<64>(*this, {.count = 1, .m = last - first, .n = columns, .k = terms, .kind = kind_of(sink)},
                         grid::GatesByUnit{{r, of_h}, first, skipped}, before,
                         [&](Index, Index i, Index j, float sum) { to.take(i * columns + j, sum); });
    };
    if (inputs > 0) gradient(false, 0, rows, {r, r.x});
    Index const direct = resets_before(r.type, r.reset_after) ? 2 * w.hidden : rows;  // those that multiply h itself
    gradient(true, 0, direct, {r, r.h, start - 1});
    if (direct < rows) gradient(true, direct, rows, {r, r.reset_state(), start});
    for (bool of_h : {false, true}) {
      Sink const to = sink.at(w.matrices(w.parts()) + (2 * r.part + (of_h ? 1 : 0)) * rows);
      grid::GatesByStep const gates{{r, of_h}};
      each_sum(
          rows, all, 1, [&](Index row, Index n) { return gates.value(0, n, row); },
          [&](Index row, float sum) { to.take(row, sum); }, kind_of(sink));
    }
  }
  /// Scaled dot-product attention, and its gradients.
  constexpr void attend(AttentionPass<float> const& a) const { attend_in_loops(*this, a); }
  constexpr void attend_gradient(AttentionPass<float> const& a, AttentionGradients<float> const& to) const {
    attend_gradient_in_loops(*this, a, to);
  }
  /// to = from, or to += from.
  constexpr void copy(Sequence<float const> const& from, Sequence<float> const& to, bool add = false) const {
    each(from.steps * from.samples * from.columns, [&](Index e) {
      Index const n = grid::quotient(e, from.columns), c = grid::remainder(e, from.columns),
                  t = grid::quotient(n, from.samples), i = grid::remainder(n, from.samples);
      float& value = to.at(t, i)[c * to.column_pitch];
      value = (add ? value : 0) + from.at(t, i)[c * from.column_pitch];
    });
  }
  /// Passes a complete gradient of `size` values gradient[e], or what a running statistic observed, to the sink.
  template <class Gradient, class Sink>
  constexpr void apply_gradient(Gradient const& gradient, Index size, Sink const& sink) const {
    each(
        size, [&](Index e) { sink.take(e, gradient[e]); }, kind_of(sink));
  }
  /// Scales each unit's weights down to the L2 norm `most` if theirs is larger.
  constexpr void constrain(Parameter const& parameter, float* weight, float most) const {
    Index const units = parameter.shape.rank() < 2 ? 1 : parameter.shape[0], size = parameter.shape.size() / units;
    each(units, [&](Index unit) {
      float* const w = weight + unit * size;
      float const norm = Math<float>::sqrt(sum_over<float>(size, [&](Index i) { return w[i] * w[i]; }));
      for (Index i = 0; norm > most && i < size; ++i) w[i] *= most / norm;
    });
  }
  /// The sum of squares of a flat buffer.
  constexpr double squared_norm(float const* values, Index size) const {
    return sum_of(size, [&](Index i) { return static_cast<double>(values[i]) * static_cast<double>(values[i]); });
  }
  /// f(first, last, grid) for ranges that together are [0, count), each executed by one thread alone.
  template <class F>
  constexpr void each_range(Index count, F const& f) const {
    each_of(workers, count, [&](Index i, int worker) { f(i, i + 1, alone_with(worker)); });
  }
  /// For each i below the count in each row, one thread calls f(row, i, i + 1) or f(row, i, i + 1, grid); the next
  /// function starts when the one before is done. As many rows are in progress as there are workers with scratch, and
  /// the scratch belongs to the row.
  template <class... F>
  constexpr void each_part(Index rows, Index count, F const&... f) const {
    for (Index done = 0; done < rows; done += workers) {
      auto const all = [&](auto const& one) {
        each(freestanding::min<Index>(workers, rows - done) * count, [&](Index e) {
          Index const row = grid::quotient(e, count), i = grid::remainder(e, count);
          if constexpr (std::is_invocable_v<decltype(one), Index, Index, Index>) {
            one(done + row, i, i + 1);
          } else {
            one(done + row, i, i + 1, alone_with(row));
          }
        });
      };
      (all(f), ...);
    }
  }
  /// take(k, sum of value(k, n) over n below `terms`) for k below the count. A block computes `at_once` of them: 1
  /// where neighbouring n are adjacent in memory, 32 where neighbouring k are.
  template <class Value, class Take>
  constexpr void each_sum(Index count, Index terms, int at_once, Value const& value, Take const& take,
                          grid::Kind kind = grid::Kind::values) const {
    if (block_local) at_once = 32;  // one after another, and no other block for sums of few terms
    auto const some = [&](grid::Block const& block, Index number) {
      block.each([&](int t) {
        Index const k = number * at_once + t % at_once;
        float sum = 0;
        for (Index n = t / at_once; k < count && n < terms; n += grid::threads / at_once) sum += value(k, n);
        block.shared[t] = sum;
      });
      block.halve(at_once, [&](int t, int other) { block.shared[t] += block.shared[other]; });
      block.each([&](int t) {
        if (t < at_once && number * at_once + t < count) take(number * at_once + t, block.shared[t]);
      });
    };
    each_block(grid::parts(count, at_once), some, kind, waiting() * (grid::parts(terms * at_once, grid::threads) - 1));
  }
  /// finish(number, i, j, sum) for the sums of `count` matrix products {m, k} {k, n}, `each` of them per sample.
  template <class A, class B, class Finish>
  constexpr void multiply(Index count, Index m, Index n, Index k, Index each, A const& a, B const& b,
                          Finish const& finish) const {
    grid::multiply(*this, {count, m, n, k, precision},
                   grid::Matrix<A::along_k>{a.data, a.row, a.column, each, a.pitch, a.size},
                   grid::Matrix<B::along_k>{b.data, b.row, b.column, each, b.pitch, b.size}, finish);
  }

 private:
  using Target_ = coldpress::Target;

  /// Updates of parameters and stores of gradients may overlap with those of other parameters. But a gradient that is
  /// added to that of another layer with the same parameter has to wait for it.
  template <class Sink>
  static constexpr grid::Kind kind_of(Sink const& sink) {
    if constexpr (requires { sink.add; }) {
      return sink.add ? grid::Kind::values : grid::Kind::gradients;
    } else {
      return grid::Kind::updates;
    }
  }

  /// take(sample, channel, offset in the sample, sum) for the gradient of each input value of `rows` samples.
  template <class G, class DY, class Take>
  constexpr void input_gradient(G const& g, DY dy, float const* weight, Index rows, Take const& take) const {
    grid::with_kind(g, [&]<class Known>(Known const& known) {
      Index const places = grid::depth_of(known).in * g.height.in * g.width.in;
      grid::multiply(*this, {g.groups, g.group_channels(), rows * places, g.group_outputs() * g.taps(), precision},
                     grid::FiltersBack<Known>{known, weight}, grid::GradientsBack<Known>{known, dy.data, dy.pitch},
                     [&](Index group, Index c, Index place, float sum) {
                       grid::Place const at = grid::input_place(known, place);
                       Index const channel = group * g.group_channels() + c;
                       take(at.sample, channel, grid::input_offset(known, channel, at.plane, at.row, at.column), sum);
                     });
    });
  }
  /// A grid of one thread, with the scratch of a worker.
  constexpr Grid alone_with(Index worker) const {
    Grid one = *this;
    one.alone = true;
    one.scratch += worker * own_scratch;
    return one;
  }

  /// Stores a finished sum.
  template <class Y, class Chain, class Join>
  static constexpr void store(Y y, PostOps<Chain, float, Join> const& post_ops, Index i, Index j, float v) {
    if constexpr (!std::is_same_v<Join, NoJoin>) {
      if (post_ops.join.other) v = post_ops.join.op.value(v, post_ops.join.other[i * post_ops.join.pitch + j]);
    }
    if (post_ops.kept) post_ops.kept[i * post_ops.kept_pitch + j] = v;
    y.row(i)[j] = post_ops.chain.value(v, Position{i, j, post_ops.step});
  }
  /// Stores a finished gradient.
  template <class DX, class Chain>
  static constexpr void store(DX dx, Derivative<Chain, float> const& derivative, Index i, Index j, float v) {
    if constexpr (!is_no_chain<Chain>) {
      if (!derivative.empty()) {
        float const x = derivative.input ? derivative.input[i * derivative.input_pitch + j] : 0;
        v *= derivative.chain.gradient(x, derivative.output[i * derivative.output_pitch + j],
                                       Position{i, j, derivative.step});
      }
    }
    dx.row(i)[j] = v;
  }
  /// f(row, column)
  template <class Y, class F>
  constexpr void each_value(Y y, F const& f) const {
    Index const columns = y.columns;
    each(y.rows * columns, [&](Index e) { f(grid::quotient(e, columns), grid::remainder(e, columns)); });
  }

  /// A place in a pooled plane. The offset of the input under a tap of its window is negative outside the plane.
  struct Volume {
    Index depth, row, column;
  };
  static constexpr Volume volume_of(PoolingGeometry const& g, Index o) {
    Index const line = grid::quotient(o, g.width.out);
    return {grid::quotient(line, g.height.out), grid::remainder(line, g.height.out), grid::remainder(o, g.width.out)};
  }
  static constexpr Index input_of(PoolingGeometry const& g, Volume const& at, Index tap) {
    Index const line = grid::quotient(tap, g.width.filter),
                x = g.width.at(at.column, grid::remainder(tap, g.width.filter)),
                y = g.height.at(at.row, grid::remainder(line, g.height.filter)),
                z = g.depth.at(at.depth, grid::quotient(line, g.height.filter));
    bool const inside = z >= 0 && z < g.depth.in && y >= 0 && y < g.height.in && x >= 0 && x < g.width.in;
    return inside ? (z * g.height.in + y) * g.width.in + x : -1;
  }
  /// The number by which the sum of a window is divided.
  static constexpr Index window_size(PoolingGeometry const& g, Index depth, Index row, Index column) {
    if (g.count_padding) return g.taps();
    auto const inside = [](Axis const& axis, Index output) {
      Index const begin = axis.at(output, 0);
      return freestanding::min(axis.in, begin + axis.filter) - freestanding::max<Index>(begin, 0);
    };
    return inside(g.depth, depth) * inside(g.height, row) * inside(g.width, column);
  }
};
static_assert(concepts::Backend<Grid>);

}  // namespace coldpress
