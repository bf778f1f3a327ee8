// Recurrent layers in blocks of a stream's steps.
#pragma once

#include <coldpress/backend/recurrent.hpp>

namespace coldpress::cpu::inline COLDPRESS_ISA {

/// One step of one sample, in a function of its own.
template <Cell cell, bool fast, class V>
__attribute__((noinline)) void recurrent_once(RecurrentStep const& s) {
  recurrent_step<cell, fast, V>(s);
}
/// A step of each of two layers whose units are one vector.
template <Cell cell, bool fast, class V>
COLDPRESS_INLINE void recurrent_steps(RecurrentStep const& first, RecurrentStep const& second) {
  if constexpr (cell == Cell::reset_before) {  // whose two passes over its units are too long to be interleaved
    recurrent_once<cell, fast, V>(second), recurrent_once<cell, fast, V>(first);
  } else {
    V of_first[1][Sums<cell>::count], of_second[1][Sums<cell>::count];
    sum_gates<cell, 2>(second, 0, 0, of_second);
    sum_gates<cell, 2>(first, 0, 0, of_first);
    activate<cell, fast>(second, 0, 0, of_second[0]);
    activate<cell, fast>(first, 0, 0, of_first[0]);
  }
}
/// All steps of one sample, at least two, in two layers whose units are one vector, and the second of which reads the h
/// of the first. The second is a step behind, or two in long blocks, so that both are computed side by side: two steps
/// behind, its product with x does not wait for the first either, but two steps more are computed alone.
template <Cell cell, bool fast, class V>
COLDPRESS_INLINE void recurrent_pair(Recurrence<float> const (&r)[2], float const* const (&weights)[2]) {
  constexpr Index long_block = 24;
  Index const steps = r[0].x.steps, behind = steps < long_block ? 1 : 2;
  // A step that is computed alone is made anew, so that the two of the loop stay in registers.
  auto const alone = [&](int layer, Index n) COLDPRESS_INLINE_LAMBDA {
    RecurrentStep step = first_step(r[layer], weights[layer]);
    if (n > 0) step.take(r[layer], n - 1), step.take(r[layer], n);
    recurrent_once<cell, fast, V>(step);
  };
  for (Index n = 0; n < behind; ++n) alone(0, n);
  RecurrentStep first = first_step(r[0], weights[0]), second = first_step(r[1], weights[1]);
  first.take(r[0], behind - 1);
  for (Index n = behind; n < steps; ++n) {
    first.take(r[0], n), second.take(r[1], n - behind);
    recurrent_steps<cell, fast, V>(first, second);
  }
  for (Index n = steps - behind; n < steps; ++n) alone(1, n);
}
/// A block of a stream's steps.
template <Cell cell, bool fast, class R>
COLDPRESS_INLINE void recurrent_signal(SignalRecurrence<R> const& s) {
  Index const steps = s.clock->steps, hidden = s.layers[0].r.weights.hidden;
  Recurrence<float> r[2];
  float const* const weights[] = {s.layers[0].weights, s.layers[1].weights};
  for (int k = 0; k < s.count; ++k) {
    auto const& layer = s.layers[k];
    r[k] = layer.r;
    r[k].x.steps = steps;
    if (layer.x.data && !layer.rows) r[k].x.data = layer.x.row(0);
    if (layer.rows) transpose(layer.x.features, steps, layer.x.row(0), layer.x.pitch, layer.rows, r[k].x.step_pitch);
  }
  // With more units, one layer after the other is faster (docs/recurrent.md).
  if (s.count == 2 && steps > 1 && hidden <= lanes_of<Narrow>) {
    recurrent_pair<cell, fast, Narrow>(r, weights);
  } else if (s.count == 2 && steps > 1 && hidden <= lanes) {
    recurrent_pair<cell, fast, Vector>(r, weights);
  } else {
    for (int k = 0; k < s.count; ++k) recurrent<cell, fast, false>(r[k], weights[k]);
  }
  for (int k = 0; k < s.count; ++k) {
    auto const& layer = s.layers[k];
    Sequence<float> const& h = layer.r.h;
    if (layer.y.data) transpose(steps, h.columns, h.data, h.step_pitch, layer.y.row(0), layer.y_distance);
  }
}
template <Cell cell, class R>
void whole_recurrent_signal(void const* step) {
  recurrent_signal<cell, false>(*static_cast<SignalRecurrence<R> const*>(step));
}
template <class R>
Kernel kernel_of(SignalRecurrence<R> const& s) {
  Kernel kernel = nullptr;
  with_cell(cell_of(s.layers[0].r.type, s.layers[0].r.reset_after),
            [&](auto cell) { kernel = whole_recurrent_signal<cell, R>; });
  return kernel;
}

}  // namespace coldpress::cpu::inline COLDPRESS_ISA
