// Recurrent layers in blocks of a stream's steps.
#pragma once

#include <coldpress/backend/recurrent.hpp>

namespace coldpress::cpu::inline COLDPRESS_ISA {

/// The units of two layers in the halves of a vector, of which nothing is kept; otherwise as UnitsOf.
struct UnitsOfTwo {
  RecurrentStep const &s, &second;

  COLDPRESS_INLINE bool keeps() const { return false; }
  COLDPRESS_INLINE Vector cell() const { return concatenate(low().cell(), high().cell()); }
  COLDPRESS_INLINE Vector h() const { return concatenate(low().h(), high().h()); }
  COLDPRESS_INLINE void keep(int, Vector) const {}
  COLDPRESS_INLINE void next_cell(Vector c) const { low().next_cell(low_half(c)), high().next_cell(high_half(c)); }
  COLDPRESS_INLINE void output(Vector y) const { low().output(low_half(y)), high().output(high_half(y)); }

 private:
  COLDPRESS_INLINE UnitsOf<Half> low() const { return {s, 0, 0}; }
  COLDPRESS_INLINE UnitsOf<Half> high() const { return {second, 0, 0}; }
};

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
    constexpr int count = Sums<cell>::count;
    V of_first[1][count], of_second[1][count];
    sum_gates<cell, 2>(second, 0, 0, of_second);
    sum_gates<cell, 2>(first, 0, 0, of_first);
    if constexpr (std::is_same_v<V, Half> && count > 1) {
      Vector z[count];
      for_constants<count>([&](auto q)
                               COLDPRESS_INLINE_LAMBDA { z[q] = concatenate(of_first[0][q], of_second[0][q]); });
      activate<cell, fast>(UnitsOfTwo{first, second}, z);
    } else {
      activate<cell, fast>(UnitsOf<V>{second, 0, 0}, of_second[0]);
      activate<cell, fast>(UnitsOf<V>{first, 0, 0}, of_first[0]);
    }
  }
}
/// All steps of one sample, at least two, in two layers whose units are one vector, and the second of which reads the h
/// of the first. Two steps behind, the second does not wait for the first, so both are computed side by side.
template <Cell cell, bool fast, class V>
COLDPRESS_INLINE void recurrent_pair(Recurrence<float> const (&r)[2], float const* const (&weights)[2]) {
  constexpr Index behind = 2;
  RecurrentStep first = first_step(r[0], weights[0]), second = first_step(r[1], weights[1]);
  auto const alone = [&](RecurrentStep& step, Recurrence<float> const& layer, Index n) COLDPRESS_INLINE_LAMBDA {
    step.take(layer, n);
    recurrent_once<cell, fast, V>(RecurrentStep{step});  // a copy, so that the step itself stays in registers
  };
  Index const steps = r[0].x.steps;
  for (Index n = 0; n < behind; ++n) alone(first, r[0], n);
  for (Index n = behind; n < steps; ++n) {
    first.take(r[0], n), second.take(r[1], n - behind);
    recurrent_steps<cell, fast, V>(first, second);
  }
  for (Index n = steps - behind; n < steps; ++n) alone(second, r[1], n);
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
