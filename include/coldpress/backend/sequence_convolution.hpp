// Convolutions of sequences.
#pragma once

// The rows of the matrix product are steps, as if each step were a row of a dense layer. They are read where they are,
// or from a panel with zeros where a tap sees what is before the sequence or after it. With few outputs, steps are
// columns instead (step_planes.hpp).

#include <coldpress/backend/blocked_rows.hpp>
#include <coldpress/backend/convolution_kernels.hpp>
#include <coldpress/backend/panel.hpp>
#include <coldpress/backend/step_planes.hpp>

namespace coldpress::cpu::inline COLDPRESS_ISA {

/// The part of a minibatch that is computed at once: steps [step, step + rows) of one sequence, or one step each of as
/// many single-step sequences as there are rows.
struct Steps {
  Index sample, step, rows;
  bool single;

  Index sample_of(Index row) const { return single ? sample + row : sample; }
  Index step_of(Index row) const { return single ? 0 : step + row; }
  /// `count` of them, the first of which is row `first`.
  Steps part(Index first, Index count) const { return {sample_of(first), step_of(first), count, single}; }
  template <class T>
  Rows<T> of(Rows<T> y, Index width) const {
    return {y.row(sample) + step * width, rows, width, single ? y.pitch : width};
  }
};

/// f(part) for parts of up to `most` of the `steps` steps of each sequence.
template <class F>
COLDPRESS_INLINE void for_each_steps(Index steps, Index most, Index batch, F f) {
  bool const single = steps == 1;
  Index const samples = single ? 1 : batch, count = single ? batch : steps;
  for (Index sample = 0; sample < samples; ++sample) {
    for (Index step = 0; step < count; step += most) {
      Index const rows = freestanding::min(most, count - step);
      f(single ? Steps{step, 0, rows, true} : Steps{sample, step, rows, false});
    }
  }
}

/// Applies `rest`, PostOps or a Derivative, to the steps of y, which were stored without it, while they are in the
/// cache. A part begins with a whole vector.
template <class Y, class Rest>
COLDPRESS_INLINE void finish_steps(Y y, Rest const& rest, Steps const& steps, Index width) {
  if constexpr (!Rest::nothing) {
    if (steps.single) return finish(y, rest, steps.sample, steps.rows);
    if (rest.empty()) return;
    Index const first = steps.step * width, end = first + steps.rows * width;
    pass_row(y.row(steps.sample), end, epilogue_of<PassOps>(y, rest), steps.sample, first);
  }
}

/// What the taps of a filter see of a sequence, as a matrix that is read where it is. Rows are `row` apart, and the
/// parts of a row that belong to two taps are `tap` apart; each has a value for each channel.
struct LeftTaps {
  float const* data;
  Index row, channels, tap;

  template <int h>
  struct Cursor {
    float const* at;
    Index row, left, channels, jump;
    COLDPRESS_INLINE float operator[](int i) const { return at[i * row]; }
    COLDPRESS_INLINE void next() {
      ++at;
      if (--left == 0) at += jump, left = channels;
    }
  };
  template <int h>
  COLDPRESS_INLINE Cursor<h> from(Index first) const {
    return {data + first * row, row, channels, channels, tap - channels};
  }
};

/// Writes panel[row][d] for d = (tap, c) of one group, where step_of(row, tap) is a step of x, or less than 0 for
/// zeros. `flushes` says whether small values become zero, as in a step of a stream.
template <bool flushes, class F>
COLDPRESS_INLINE void pack_steps(Steps const& steps, Index taps, In x, Index channels, Index of_group, Index group,
                                 float* panel, Index pitch, F step_of) {
  for (Index i = 0; i < steps.rows; ++i, panel += pitch) {
    float* to = panel;
    for (Index r = 0; r < taps; ++r, to += of_group) {
      Index const t = step_of(steps.step_of(i), r);
      if (t >= 0) {
        float const* const from = x.row(steps.sample_of(i)) + t * channels + group * of_group;
        if constexpr (flushes) {
          for (Index c = 0; c < of_group; c += lanes)
            store(to + c, flush_small(load_row(from + c, of_group - c), splat(smallest_factor)));
        } else {
          copy_over(to, from, of_group);
        }
      } else {
        for (Index c = 0; c < of_group; c += lanes) store(to + c, Vector{});
      }
    }
  }
}
/// The step of x that a tap sees at a step of y. It is less than 0 before the first and after the last.
COLDPRESS_INLINE auto seen(ConvolutionGeometry const& g) {
  return [&g](Index step, Index tap) COLDPRESS_INLINE_LAMBDA {
    Index const at = g.height.at(step, tap);
    return at < g.height.in ? at : -1;
  };
}
/// Whether all taps see steps of the sequence, at all of these steps of y.
COLDPRESS_INLINE bool sees_all(ConvolutionGeometry const& g, Steps const& steps) {
  Axis const& axis = g.height;
  return !steps.single && axis.at(steps.step, 0) >= 0 &&
         axis.at(steps.step + steps.rows - 1, axis.filter - 1) < axis.in;
}

/// Whether a part of a convolution is computed in planes, if all taps see steps of the sequence.
inline bool suits_planes(ConvolutionGeometry const& g, Index outputs, Steps const& part) {
  return outputs <= most_planes && g.groups == 1 && g.height.stride == 1 && part.rows == plane_steps;
}

/// y = x w + bias, where x has one value for each row and w is a row: a tile would have to begin and end for one term.
template <class = void>
void outer_product(Index rows, Index columns, float const* x, Index pitch, float const* w, float const* bias, float* y,
                   Index y_pitch) {
  for (Index c = 0; c < columns; c += lanes) {
    Vector const factor = load(w + c), b = bias ? load(bias + c) : splat(-0.f);  // adding -0 changes nothing
    for (Index i = 0; i < rows; ++i)
      store_row(y + i * y_pitch + c, fma(splat(x[i * pitch]), factor, Vector{}) + b, columns - c);
  }
}

/// y = post_ops(x * W + bias), where y and post_ops are those of the whole minibatch, from sample `first` on.
template <SequenceKernels kernels, class Y, class Chain, class Join>
void convolve_sequences(ConvolutionGeometry const& g, In x, float const* weight, float const* bias, Y y,
                        PostOps<Chain, float, Join> const& post_ops, Index first, float* scratch) {
  PanelMemory const memory{g, scratch};
  Axis const& steps_of = g.height;
  OneOf<kernels.outputs> const outputs{g.group_outputs()};
  Index const pitch = memory.panel.pitch(), channels = g.group_channels(), w_pitch = Layout::pitch(g.outputs),
              taps = steps_of.filter, depth = taps * channels,
              packed = depth * padded_size(outputs);  // floats of a group's weights
  bool const packs = depth > 1 && memory.panel.packs_filters(x.rows * steps_of.out);
  float* const of_group = memory.rest + (packs ? g.groups * packed : 0);  // its biases
  for (Index group = 0; packs && group < g.groups; ++group)
    pack_panels(depth, outputs, weight + group * outputs, w_pitch, memory.rest + group * packed);
  for_each_steps(steps_of.out, memory.panel.rows, x.rows, [&](Steps const& part) {
    Steps const steps{part.sample + first, part.step, part.rows, part.single};
    Out const to = steps.of(Out{y.data, y.rows, y.columns, y.pitch}, g.outputs);
    if constexpr (has_planes(kernels.outputs, kernels.steps)) {
      if (suits_planes(g, outputs, part) && sees_all(g, part)) {
        float const* const from = x.row(part.sample) + steps_of.at(part.step, 0) * channels;
        multiply_planes<kernels.channels, kernels.outputs>(
            taps, channels, outputs, from, steps_of.dilation * channels, {weight, 1, w_pitch},
            PlaneSums<std::false_type>{bias, to.data, {}}, memory.inputs);
        return finish_steps(y, post_ops, steps, g.outputs);
      }
    }
    for (Index group = 0; group < g.groups; ++group) {
      float const* b = bias;
      if (bias && group > 0) {  // whole vectors are read, which extend beyond the last group
        copy_over(of_group, bias + group * outputs, outputs);
        b = of_group;
      }
      Output<coldpress::Chain<>> const epilogue{{}, b, to.data + group * outputs, to.pitch, outputs};
      LeftTaps a{memory.inputs, pitch, depth, 0};  // a panel's row is one long tap
      if (has_fma && sees_all(g, part)) {
        float const* const from = x.row(part.sample) + steps_of.at(part.step, 0) * g.channels + group * channels;
        a = {from, steps_of.stride * g.channels, channels, steps_of.dilation * g.channels};
      } else {
        pack_steps<!has_fma>(part, taps, x, g.channels, channels, group, memory.inputs, pitch, seen(g));
      }
      OneOf<kernels.steps> const rows{steps.rows};
      if (depth == 1) {
        outer_product(steps.rows, outputs, a.data, a.row, weight + group * outputs, b, epilogue.y, to.pitch);
      } else if (packs) {
        multiply_packed(rows, outputs, depth, a, memory.rest + group * packed, epilogue);
      } else {
        cpu::multiply(rows, outputs, depth, a, Right{weight + group * outputs, w_pitch}, epilogue);
      }
    }
    finish_steps(y, post_ops, steps, g.outputs);
  });
}

/// Stores sums, or adds them to what is there.
template <class Adds>
struct StepSums {
  float* to;
  Index pitch, columns;
  [[no_unique_address]] Adds adds;

  template <int h, int w>
  COLDPRESS_INLINE void finish(Vector (&sum)[h][w], Index row, Index column) const {
    either(
        adds,
        [&](auto...) COLDPRESS_INLINE_LAMBDA {
          Added{to, pitch, columns}.finish(sum, row, column);
        },
        [&](auto...) COLDPRESS_INLINE_LAMBDA {
          Output<coldpress::Chain<>>{{}, nullptr, to, pitch, columns}.finish(sum, row, column);
        });
  }
};

/// dx = derivative(the gradient with respect to x), where dx and the derivative are those of the whole minibatch, from
/// sample `first` on. It is the convolution of dy with the taps in reverse, at each step of x.
template <SequenceKernels kernels, class DX, class Chain, class Adds>
void sequence_input_gradient(ConvolutionGeometry const& g, In dy, float const* weight, DX dx,
                             Derivative<Chain, float, Adds> const& derivative, Index first, float* scratch) {
  PanelMemory const memory{g, scratch, true};
  Axis const& steps_of = g.height;
  OneOf<kernels.channels> const channels{g.group_channels()};
  Index const outputs = g.group_outputs(), taps = steps_of.filter, pitch = memory.panel.back_pitch(taps),
              depth = taps * outputs;
  auto const seen_by = [&](Index step, Index tap) COLDPRESS_INLINE_LAMBDA {
    Index const from = step + steps_of.padding - tap * steps_of.dilation, output = from / steps_of.stride;
    return from >= 0 && from % steps_of.stride == 0 && output < steps_of.out ? output : -1;
  };
  for (Index group = 0; group < g.groups; ++group) {
    for_each_panel(channels, [&](Index, Index column, Index width) {
      for (Index r = 0; r < taps; ++r) {
        transpose(freestanding::min(width, channels - column), outputs,
                  weight + (r * channels + column) * Layout::pitch(g.outputs) + group * outputs,
                  Layout::pitch(g.outputs), memory.rest + column * depth + r * outputs * width, width);
      }
    });
    for_each_steps(steps_of.in, Panel::steps_at_once(steps_of.in), dy.rows, [&](Steps const& part) {
      Steps const steps{part.sample + first, part.step, part.rows, part.single};
      Out const to = steps.of(Out{dx.data, dx.rows, dx.columns, dx.pitch}, g.channels);
      Index const last = part.step + part.rows - 1 + steps_of.padding,  // that the first tap sees
          first_seen = part.step + steps_of.padding - (taps - 1) * steps_of.dilation;
      bool const in_place = !part.single && steps_of.stride == 1 && first_seen >= 0 && last < steps_of.out;
      float const* const from =
          in_place ? dy.row(part.sample) + (part.step + steps_of.padding) * g.outputs + group * outputs : nullptr;
      Index const tap = -steps_of.dilation * g.outputs;
      if constexpr (has_planes(kernels.channels, kernels.gradient_steps)) {
        if (in_place && suits_planes(g, channels, part)) {
          multiply_planes<kernels.outputs, kernels.channels>(
              taps, outputs, channels, from, tap, {memory.rest, 1, lanes},
              PlaneSums<Adds>{nullptr, to.data, derivative.adds}, memory.inputs);
          return finish_steps(dx, derivative.adding(std::false_type{}), steps, g.channels);
        }
      }
      StepSums<Adds> const epilogue{to.data + group * channels, to.pitch, channels, derivative.adds};
      LeftTaps a{memory.inputs, pitch, depth, 0};  // a panel's row is one long tap
      if (in_place) {
        a = {from, g.outputs, outputs, tap};
      } else {
        pack_steps<false>(part, taps, dy, g.outputs, outputs, group, memory.inputs, pitch, seen_by);
      }
      multiply_packed(OneOf<kernels.gradient_steps>{steps.rows}, channels, depth, a, memory.rest, epilogue);
      if (group + 1 == g.groups) finish_steps(dx, derivative.adding(std::false_type{}), steps, g.channels);
    });
  }
}

}  // namespace coldpress::cpu::inline COLDPRESS_ISA
