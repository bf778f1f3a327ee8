// Kernels for a single sample, with everything that follows from the shapes computed in advance.
#pragma once

// A stream repeats such a step. The kernel of a step is also chosen only once (see kernel_of beside the kernels).

#include <coldpress/backend/layout.hpp>
#include <coldpress/core/pass.hpp>
#include <coldpress/core/recurrent.hpp>

namespace coldpress::cpu {

/// Executes the step at this address.
using Kernel = void (*)(void const* step);

/// A step of a dense layer.
template <class Number, class Chain = ErasedChain, class Join = DefaultJoin<Chain, float>>
struct AffineStep {
  float const* x;
  Number const* weight;  // {inputs, outputs}
  float const* bias;     // or null
  float* y;
  Index inputs, outputs, pitch, writable;
  Index column;  // the first of the columns that are computed at once
  PostOps<Chain, float, Join> post_ops;
};
template <class X, class Number, class Y, class Chain, class Join>
__attribute__((always_inline)) inline AffineStep<Number, Chain, Join> affine_step(
    X x, Number const* weight, float const* bias, Y y, PostOps<Chain, float, Join> const& post_ops) {
  return {x.data,      weight, bias,    y.data, x.columns, y.columns, Layout::matrix_pitch(y.columns),
          writable(y), 0,      post_ops};
}

/// A step of a causal convolution. The state holds partial sums of future outputs. Only every `dilation`-th output
/// needs a given step, so the state has `dilation` turns. Each turn has, for every group and vector of outputs, the
/// sums that have seen 1, 2, ..., taps - 1 of their steps. The number of the current turn comes last, as the bits of an
/// integer.
template <class Chain = ErasedChain, class Join = DefaultJoin<Chain, float>>
struct ConvolutionStep {
  float const *x, *weight;
  float const* bias;  // or null
  float *state, *y;
  Index groups, channels, outputs;  // per group
  Index weight_pitch, turn_pitch;   // turn_pitch: floats of a turn's sums
  Index taps, dilation;
  Index y_pitch, writable, row, column;
  PostOps<Chain, float, Join> post_ops;
};
/// Whether it is a convolution of one step by one tap, which needs no state.
template <class X>
constexpr bool is_one_step(ConvolutionGeometry const& g, X x) {
  return g.is_sequence() && g.height.in == 1 && g.height.sees_one() && x.rows == 1;
}
template <class X, class Y, class Chain, class Join>
__attribute__((always_inline)) inline ConvolutionStep<Chain, Join> convolution_step(
    ConvolutionGeometry const& g, X x, float const* weight, float const* bias, Y y,
    PostOps<Chain, float, Join> const& post_ops, float* state) {
  return {.x = x.data,
          .weight = weight,
          .bias = bias,
          .state = state,
          .y = y.data,
          .groups = g.groups,
          .channels = g.group_channels(),
          .outputs = g.group_outputs(),
          .weight_pitch = Layout::pitch(g.outputs),
          .turn_pitch = (g.height.filter - 1) * g.groups * padded_size(g.group_outputs()),
          .taps = g.height.filter,
          .dilation = g.past() > 0 ? g.height.dilation : 1,
          .y_pitch = y.pitch,
          .writable = writable(y),
          .row = 0,
          .column = 0,
          .post_ops = post_ops};
}

/// A block of a stream's steps: y = post_ops(something of x).
template <class Chain, class Join>
struct SignalStep {
  Signal<float const> x;
  Signal<float> y;
  SignalPostOps<Chain, float, Join> post_ops;
};
/// Pointwise operations.
template <class Chain = ErasedChain, class Join = DefaultJoin<Chain, float>>
struct SignalMap : SignalStep<Chain, Join> {};
/// A causal convolution. With more than one tap, the rows of x are rings.
template <class Chain = ErasedChain, class Join = DefaultJoin<Chain, float>>
struct SignalConvolution : SignalStep<Chain, Join> {
  float const *weight, *bias;       // bias: or null
  Index groups, channels, outputs;  // per group
  Index weight_pitch, taps, dilation, most;
};
/// A convolution, of a step or of a block, that computes in the same pass what comes next to it in a network
/// (kernels/fused_steps.hpp): to its sums it adds the product of one more value of each step with weights, and it adds
/// its result to another value. The values of a single step are signals with a pitch of 1.
template <class Step>
struct Fused : Step {
  struct Mixed {
    Signal<float const> x;       // one feature
    float const *weight, *bias;  // of each output; bias: or null
  };
  struct Total {
    Signal<float const> x;
    Signal<float> y;  // x + the result
  };
  Mixed mixed = {};  // weight is null: there is none
  Total total = {};  // y.data is null: there is none
};
using FusedStep = Fused<ConvolutionStep<>>;
using FusedBlock = Fused<SignalConvolution<>>;
template <class X, class Y, class Chain, class Join>
__attribute__((always_inline)) inline SignalMap<Chain, Join> signal_map(
    X x, Y y, SignalPostOps<Chain, float, Join> const& post_ops) {
  return {{x, y, post_ops}};
}
template <class X, class Y, class Chain, class Join>
__attribute__((always_inline)) inline SignalConvolution<Chain, Join> signal_convolution(
    ConvolutionGeometry const& g, X x, float const* weight, float const* bias, Y y,
    SignalPostOps<Chain, float, Join> const& post_ops, Index most) {
  return {{x, y, post_ops},
          weight,
          bias,
          g.groups,
          g.group_channels(),
          g.group_outputs(),
          Layout::pitch(g.outputs),
          g.height.filter,
          g.height.dilation,
          most};
}

/// A step of one part of a recurrent layer, for all samples. Rows of different samples are a pitch apart; the matrix
/// has rows for each value of x, then for each value of h, then the two biases.
struct RecurrentStep {
  float const* x;
  float const* h;     // of the step before; null: zero
  float const* cell;  // c of the step before; null: zero
  float *y, *kept;
  float *next_cell, *carried;  // receive c, and after the last step h once more; carried may be null
  float const* matrix;
  Index x_pitch, h_pitch, cell_pitch, y_pitch, kept_pitch, next_cell_pitch, carried_pitch, pitch;
  Index inputs, hidden, units;
  Index writable;  // columns of a row of h up to which whole vectors may be read and stored
  RnnType type;
  bool reset_after, keeps;

  /// Before the first step, h and c are those of the step before it.
  void take_initial(Recurrence<float> const& r) {
    h = r.h.at(r.step(-1), 0), h_pitch = r.h.sample_pitch;
    cell = r.kept.at(r.step(-1), 0) + 4 * units, cell_pitch = r.kept.sample_pitch;
  }
  /// Moves to step number n of the sequence, counted from 0.
  __attribute__((always_inline)) void take(Recurrence<float> const& r, Index n) {
    if (n > 0) h = y, h_pitch = y_pitch, cell = next_cell, cell_pitch = next_cell_pitch;
    Index const t = r.step(n);
    x = r.x.at(t, 0), y = r.h.at(t, 0), kept = r.kept.at(t, 0);
    if (!r.state) next_cell = kept + 4 * units, next_cell_pitch = kept_pitch;
  }
};
/// The first step of a sequence.
__attribute__((always_inline)) inline RecurrentStep first_step(Recurrence<float> const& r, float const* weights) {
  RecurrentWeights const& w = r.weights;
  Index const units = r.units();
  RecurrentStep s{.x = nullptr,
                  .h = r.state,
                  .cell = r.state ? r.state + units : nullptr,
                  .y = nullptr,
                  .kept = nullptr,
                  .next_cell = r.state ? r.state + units : nullptr,
                  .carried = r.state,
                  .matrix = weights + Layout::recurrent_part(w, r.part),
                  .x_pitch = r.x.sample_pitch,
                  .h_pitch = r.state_pitch,
                  .cell_pitch = r.state_pitch,
                  .y_pitch = r.h.sample_pitch,
                  .kept_pitch = r.kept.sample_pitch,
                  .next_cell_pitch = r.state_pitch,
                  .carried_pitch = r.state_pitch,
                  .pitch = Layout::recurrent_pitch(w),
                  .inputs = w.inputs(r.part),
                  .hidden = w.hidden,
                  .units = units,
                  .writable = w.directions == 1 ? units : w.hidden,
                  .type = r.type,
                  .reset_after = r.reset_after,
                  .keeps = r.keeps};
  s.take(r, 0);
  return s;
}

}  // namespace coldpress::cpu
