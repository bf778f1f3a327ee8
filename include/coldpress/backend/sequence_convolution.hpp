// Causal convolutions of sequences: rows of the product are steps, so that a step is a row of a dense layer.
#pragma once

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
COLDPRESS_INLINE void pack_steps(ConvolutionGeometry const& g, Steps const& steps, In x, float* state, Index group,
                                 float* panel, Index pitch) {
  Index const channels = g.group_channels(), kept = Past<float>::size(g.past(), g.channels);
  for (Index i = 0; i < steps.rows; ++i, panel += pitch) {
    Index const sample = steps.sample_of(i);
    Past<float> const past{state + sample * kept, g.past(), g.channels};
    float* to = panel;
    for (Index r = 0; r < g.height.filter; ++r, to += channels) {
      Index const t = g.height.at(steps.step_of(i), r);
      if (t >= 0 || state) {
        copy_over(to, (t >= 0 ? x.row(sample) + t * g.channels : past.step(t)) + group * channels, channels);
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

/// A call with a single step in all is a sum in an order of its own, as in affine.
template <class = void>
void convolve_sequences(ConvolutionGeometry const& g, In x, float const* weight, float const* bias, Out y, float* state,
                        float* scratch) {
  PanelMemory const memory{g, scratch};
  Index const pitch = memory.panel.pitch(), outputs = g.group_outputs(), w_pitch = Layout::pitch(g.outputs);
  for_each_steps(g, memory.panel, x.rows, [&](Steps const& steps) {
    Out const to = steps.of(y, g.outputs);
    for (Index group = 0; group < g.groups; ++group) {
      pack_steps(g, steps, x, state, group, memory.inputs, pitch);
      float const* b = bias;
      if (bias && group > 0) {  // whole vectors are read, beyond the last group
        copy_over(memory.rest, bias + group * outputs, outputs);
        b = memory.rest;
      }
      Output<Chain<>> const epilogue{{}, b, to.data + group * outputs, to.pitch, outputs};
      float const* const w = weight + group * outputs;
      if (x.rows * g.height.out == 1) {
        multiply_row(outputs, g.depth(), memory.inputs, w, w_pitch, epilogue);
      } else {
        multiply(steps.rows, outputs, g.depth(), {memory.inputs, pitch, 1}, w, w_pitch, epilogue);
      }
    }
  });
  if (!state || g.past() == 0) return;
  Index const kept = Past<float>::size(g.past(), g.channels);
  for (Index i = 0; i < x.rows; ++i) Past<float>{state + i * kept, g.past(), g.channels}.append(x.row(i), g.height.in);
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
void sequence_weight_gradient(ConvolutionGeometry const& g, In x, In dy, float* gradient, float* scratch) {
  PanelMemory const memory{g, scratch};
  Index const pitch = memory.panel.pitch(), outputs = g.group_outputs(), other = memory.panel.output_pitch();
  for_each_steps(g, memory.panel, x.rows, [&](Steps const& steps) {
    In const from = steps.of(dy, g.outputs);
    for (Index group = 0; group < g.groups; ++group) {
      pack_steps(g, steps, x, nullptr, group, memory.inputs, pitch);
      for (Index i = 0; i < steps.rows; ++i)
        copy_over(memory.outputs + i * other, from.row(i) + group * outputs, outputs);
      multiply(g.depth(), outputs, steps.rows, {memory.inputs, 1, pitch}, memory.outputs, other,
               Added{gradient + group * outputs, Layout::pitch(g.outputs), outputs});
    }
  });
}

}  // namespace coldpress::cpu::inline COLDPRESS_ISA
