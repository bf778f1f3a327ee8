// Causal convolutions of sequences. Of whole ones, rows of the product are steps, so that a step is a row of a dense
// layer. In a stream, each step is added to the outputs that will need it. Both sum in one order.
#pragma once

#include <coldpress/backend/image_weight_gradient.hpp>
#include <coldpress/backend/panel.hpp>

namespace coldpress::cpu::inline COLDPRESS_ISA {

/// A minibatch's part that goes through one panel: steps [step, step + rows) of a sequence; or of sequences of a single
/// step, as many as there are rows.
struct Steps {
  Index sample, step, rows;
  bool single;

  Index sample_of(Index row) const { return single ? sample + row : sample; }
  Index step_of(Index row) const { return single ? 0 : step + row; }
  template <class T>
  Rows<T> of(Rows<T> y, Index width) const {
    return {y.row(sample) + step * width, rows, width, single ? y.pitch : width};
  }
};

template <class F>
COLDPRESS_INLINE void for_each_steps(ConvolutionGeometry const& g, Panel const& panel, Index batch, F f) {
  bool const single = g.height.out == 1;
  Index const samples = single ? 1 : batch, steps = single ? batch : g.height.out;
  for (Index sample = 0; sample < samples; ++sample) {
    for (Index step = 0; step < steps; step += panel.rows) {
      Index const rows = steps - step < panel.rows ? steps - step : panel.rows;
      f(single ? Steps{step, 0, rows, true} : Steps{sample, step, rows, false});
    }
  }
}

/// panel[row][d] for d = (tap, c) of one group.
COLDPRESS_INLINE void pack_steps(ConvolutionGeometry const& g, Steps const& steps, In x, Index group, float* panel,
                                 Index pitch) {
  Index const channels = g.group_channels();
  for (Index i = 0; i < steps.rows; ++i, panel += pitch) {
    Index const sample = steps.sample_of(i);
    float* to = panel;
    for (Index r = 0; r < g.height.filter; ++r, to += channels) {
      Index const t = g.height.at(steps.step_of(i), r);
      if (t >= 0) {
        copy_over(to, x.row(sample) + t * g.channels + group * channels, channels);
      } else {
        for (Index c = 0; c < channels; c += lanes) store(to + c, Vector{});
      }
    }
  }
}

/// The way back, adding: dx of all steps that a row has seen.
template <class = void>
void unpack_steps(ConvolutionGeometry const& g, Steps const& steps, float const* panel, Index pitch, Out dx,
                  Index group) {
  Index const channels = g.group_channels();
  for (Index i = 0; i < steps.rows; ++i, panel += pitch) {
    for (Index r = 0; r < g.height.filter; ++r) {
      Index const t = g.height.at(steps.step_of(i), r);
      if (t < 0) continue;
      float* const to = dx.row(steps.sample_of(i)) + t * g.channels + group * channels;
      float const* const from = panel + r * channels;
      for (Index c = 0; c < channels; c += lanes)
        store_row(to + c, load_row(to + c, channels - c) + load(from + c), channels - c);
    }
  }
}

template <class = void>
void convolve_sequences(ConvolutionGeometry const& g, In x, float const* weight, float const* bias, Out y,
                        float* scratch) {
  PanelMemory const memory{g, scratch};
  Index const pitch = memory.panel.pitch(), outputs = g.group_outputs(), w_pitch = Layout::pitch(g.outputs);
  for_each_steps(g, memory.panel, x.rows, [&](Steps const& steps) {
    Out const to = steps.of(y, g.outputs);
    for (Index group = 0; group < g.groups; ++group) {
      pack_steps(g, steps, x, group, memory.inputs, pitch);
      float const* b = bias;
      if (bias && group > 0) {  // whole vectors are read, beyond the last group
        copy_over(memory.rest, bias + group * outputs, outputs);
        b = memory.rest;
      }
      Output<Chain<>> const epilogue{{}, b, to.data + group * outputs, to.pitch, outputs};
      float const* const w = weight + group * outputs;
      multiply(steps.rows, outputs, g.depth(), {memory.inputs, pitch, 1}, w, w_pitch, epilogue);
    }
  });
}

/// One step of a stream. In its state are the sums of the outputs that come, as far as steps have been seen: a ring of
/// g.past() rows, then the number of the row for the output that is furthest away, which is also the next one's.
struct Pushed {
  float const *x, *weight;  // of one group
  float* sums;
  Index channels, weight_pitch, steps, pitch, now, taps, dilation;
};
/// Adds the terms of taps [first, first + count) to one vector of their outputs; returns the last one's sums.
template <int count>
COLDPRESS_INLINE Vector push_block(Pushed const& p, Index first, Index column) {
  float* slot[count];
  Vector sum[count];
  Index const ring = p.steps * p.pitch, apart = p.dilation * p.pitch;
  auto const wrapped = [&](Index at) COLDPRESS_INLINE_LAMBDA { return at + (at >> 63 & ring); };
  Index at = wrapped((p.now - first * p.dilation) * p.pitch);
  for_constants<count>([&](auto j) COLDPRESS_INLINE_LAMBDA {
    slot[j] = p.sums + at + column;
    at = wrapped(at - apart);
    sum[j] = j == 0 && first == 0 ? Vector{} : load(slot[j]);
  });
  Index const tap_pitch = p.channels * p.weight_pitch;
  float const* weight = p.weight + first * tap_pitch + column;
  for (Index c = 0; c < p.channels; ++c, weight += p.weight_pitch) {
    Vector const x = splat(p.x[c]);
    unroll<count>([&](auto j) COLDPRESS_INLINE_LAMBDA { sum[j] = fma(x, load(weight + j * tap_pitch), sum[j]); });
  }
  for_constants<count>([&](auto j) COLDPRESS_INLINE_LAMBDA {
    if (j + 1 < count || first + count < p.taps) store(slot[j], sum[j]);
  });
  return sum[count - 1];
}

/// The same, not inlined: one copy serves every shape.
template <int count>
__attribute__((noinline)) Vector push_taps(Pushed const& pushed, Index first, Index column) {
  Pushed const p = pushed;  // stores cannot change a copy
  return push_block<count>(p, first, column);
}

/// The last taps come first: the current output's row is that of the furthest one, too. `known`: whether the compiler
/// knows the shape; then all is inlined.
template <bool known, class Epilogue>
COLDPRESS_INLINE void convolve_stream(ConvolutionGeometry const& g, In x, float const* weight, float const* bias,
                                      float* state, Epilogue const& epilogue) {
  Index const outputs = g.group_outputs(), taps = g.height.filter, group_pitch = Layout::cells(outputs);
  Pushed p{.x = nullptr,
           .weight = nullptr,
           .sums = nullptr,
           .channels = g.group_channels(),
           .weight_pitch = Layout::pitch(g.outputs),
           .steps = g.past(),
           .pitch = g.groups * group_pitch,
           .now = 0,
           .taps = taps,
           .dilation = g.height.dilation};
  for (Index i = 0; i < x.rows; ++i, state += g.state()) {
    float& now = state[g.past() * p.pitch];
    for (Index t = 0; t < g.height.in; ++t) {
      p.now = static_cast<Index>(now);
      for (Index group = 0; group < g.groups; ++group) {
        p.x = x.row(i) + t * g.channels + group * p.channels;
        p.weight = weight + group * outputs;
        p.sums = state + group * group_pitch;
        for (Index k = 0; k < outputs; k += lanes) {
          Vector sum[1][1] = {};
          Index after = taps;
          split<8>(taps, [&](Index, auto count) COLDPRESS_INLINE_LAMBDA {
            after -= count;
            Vector last;
            if constexpr (known) {
              last = push_block<count>(p, after, k);
            } else {
              last = push_taps<count>(p, after, k);
            }
            if (after + count == taps) sum[0][0] = last;
          });
          if (bias) sum[0][0] += load_row(bias + group * outputs + k, outputs - k);
          epilogue.finish(sum, i, t * g.outputs + group * outputs + k);
        }
      }
      now = static_cast<float>(p.now + 1 == p.steps ? 0 : p.now + 1);
    }
  }
}

template <class = void>
void sequence_input_gradient(ConvolutionGeometry const& g, In dy, float const* weight, Out dx, float* scratch) {
  PanelMemory const memory{g, scratch, true};
  Index const pitch = memory.panel.pitch(), outputs = g.group_outputs();
  for (Index group = 0; group < g.groups; ++group) {
    transpose(g.depth(), outputs, weight + group * outputs, Layout::pitch(g.outputs), memory.rest, pitch);
    for_each_steps(g, memory.panel, dy.rows, [&](Steps const& steps) {
      In const from = steps.of(dy, g.outputs);
      multiply(steps.rows, g.depth(), outputs, {from.data + group * outputs, from.pitch, 1}, memory.rest, pitch,
               StoredGradient{{memory.inputs}, pitch});
      unpack_steps(g, steps, memory.inputs, pitch, dx, group);
    });
  }
}

template <class = void>
void sequence_weight_gradient(ConvolutionGeometry const& g, In x, In dy, float* gradient, float* biases,
                              float* scratch) {
  PanelMemory const memory{g, scratch};
  Index const pitch = memory.panel.pitch(), outputs = g.group_outputs(), other = memory.panel.output_pitch();
  for_each_steps(g, memory.panel, x.rows, [&](Steps const& steps) {
    In const from = steps.of(dy, g.outputs);
    for (Index group = 0; group < g.groups; ++group) {
      pack_steps(g, steps, x, group, memory.inputs, pitch);
      for (Index i = 0; i < steps.rows; ++i)
        copy_over(memory.outputs + i * other, from.row(i) + group * outputs, outputs);
      multiply(g.depth(), outputs, steps.rows, {memory.inputs, 1, pitch}, memory.outputs, other,
               Added{gradient + group * outputs, Layout::pitch(g.outputs), outputs});
      if (biases)
        multiply(Index{1}, outputs, steps.rows, ones(), memory.outputs, other,
                 Added{biases + group * outputs, 0, outputs});
    }
  });
}

}  // namespace coldpress::cpu::inline COLDPRESS_ISA
