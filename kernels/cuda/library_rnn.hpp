// Recurrent layers that a library computes: which ones these are, and the layouts of their values on both sides.
#pragma once

#include "libraries.hpp"

#include <coldpress/layers/rnn.hpp>

namespace coldpress::cuda {

/// The task of a layer for a minibatch of samples of shape `in`.
inline RnnTask task_of(Rnn const& layer, Shape const& in, Index batch, bool training) {
  RecurrentWeights const weights = layer.parameters({&in, 1})[0].recurrent;
  return {layer.rnn_type, weights, batch, in.size() / weights.input, layer.output, training};
}
/// A library's dropout masks would differ from coldpress's, it propagates gradients through all steps, and its GRUs
/// apply the reset gate after the product, so layers with dropout, truncation or a reset before are left to kernels,
/// and so are those that output their state.
inline bool has_library(Rnn const& layer, RnnTask const& task) {
  bool const drops = layer.dropout_probability > 0 && layer.num_layers > 1;
  return !drops && layer.reset_after && layer.output != RnnOutput::sequence_and_state &&
         (layer.truncation == 0 || layer.truncation >= static_cast<std::uint64_t>(task.steps));
}

/// The layer's input, or its gradient, in the library's layout {steps, batch, features}, ...
inline Sequence<float> steps_of(RnnTask const& task, float* x) {
  Index const columns = task.weights.input;
  return {x, task.batch, task.steps, columns, columns, task.batch * columns};
}
/// ... and in the layer's layout {batch, steps, features}.
inline Sequence<float> steps_of(RnnTask const& task, Rows<float> x) {
  Index const columns = task.weights.input;
  return {x.data, task.batch, task.steps, columns, x.pitch, columns};
}
/// Calls f(library's, layer's) for the parts of the layer's output, or of its gradient. If the output has only last
/// steps, there is one call per layer in it, and the sequences have a direction in place of each step.
template <class F>
void each_output(RnnTask const& task, RnnValues const& library, Rows<float> rows, F f) {
  Index const hidden = task.weights.hidden, directions = task.weights.directions, layers = task.weights.layers,
              units = directions * hidden, batch = task.batch;
  if (task.output == RnnOutput::sequence)
    return f(Sequence<float>{library.y, batch, task.steps, units, units, batch * units},
             Sequence<float>{rows.data, batch, task.steps, units, rows.pitch, units});
  bool const all = task.output == RnnOutput::layers;
  Index const stride = all ? layers : 1;
  for (Index number = all ? 0 : layers - 1; number < layers; ++number)
    f(Sequence<float>{library.last + number * batch * units, batch, directions, hidden, hidden, batch * hidden},
      Sequence<float>{rows.data + (all ? number : 0), batch, directions, hidden, rows.pitch, hidden * stride, stride});
}

}  // namespace coldpress::cuda
