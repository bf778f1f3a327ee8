// A step of a recurrent layer with all that its shapes say worked out: a stream repeats it.
#pragma once

#include <coldpress/backend/layout.hpp>
#include <coldpress/core/recurrent.hpp>

namespace coldpress::cpu {

/// All samples' step of one part. Rows are pitches apart; the matrix has rows for each value of x, then of h, then the
/// two biases.
struct RecurrentStep {
  float const* x;
  float const* h;     // of the step before; null: zero
  float const* cell;  // c of the step before; null: zero
  float *y, *kept;
  float *next_cell, *carried;  // these take c, and after the last step h once more; carried may be null
  float const* matrix;
  Index x_pitch, h_pitch, cell_pitch, y_pitch, kept_pitch, next_cell_pitch, carried_pitch, pitch;
  Index inputs, hidden, units;
  Index writable;  // columns of a row of h up to which whole vectors may be read and stored
  bool rectified, keeps;

  /// Of the sequence's step number n, from 0 on.
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
                  .rectified = r.type == RnnType::relu,
                  .keeps = r.keeps};
  s.take(r, 0);
  return s;
}

}  // namespace coldpress::cpu
