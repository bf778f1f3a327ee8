// Gradients of recurrent layers on the CPU.
#pragma once

// A step is a product with the transposed W_h, followed by the gates' derivatives.

#include <coldpress/backend/recurrent.hpp>

namespace coldpress::cpu::inline COLDPRESS_ISA {

/// The operands of a backward step, as pointers to the row of sample 0 in this step; null where there is nothing.
struct GateDerivatives {
  float* gradients;
  float const *after, *kept;  // the gradients of the following step; what this step kept
  float const* carried;       // what the following step passes on beside its sums, or the gradient of the last c
  float const *upper, *y;     // the gradient of this step's h from the layer above; this step's h
  float const* before;        // c (LSTM) or h of the step before, or initially
  Index gradients_pitch, kept_pitch, upper_pitch, y_pitch, before_pitch;
  Index hidden, units;
  bool rectified;
};

/// Computes the gradients of the sums from the gradient of h, for one vector of units. On entry the last sum holds the
/// following step's product with W_h. Behind the sums, the direct gradient of the step before is stored. The passes of
/// a GRU with the reset before go the other way round: those for r have the gradient of r∘h in the last sum on entry.
template <Cell cell>
COLDPRESS_INLINE void derivatives(GateDerivatives const& s, Index row, Index column) {
  constexpr bool resets = cell == Cell::reset_before_gates || cell == Cell::reset_before_value;
  constexpr Cell layer = resets ? Cell::reset_before : cell;
  constexpr int count = Sums<layer>::count;
  Index const left = s.hidden - column;
  float* const gradients = s.gradients + row * s.gradients_pitch + column;
  auto const kept = [&](int n)
                        COLDPRESS_INLINE_LAMBDA { return load(s.kept + row * s.kept_pitch + column + n * s.units); };
  auto const put = [&](int n, Vector v) COLDPRESS_INLINE_LAMBDA { store(gradients + n * s.units, v); };
  auto const row_of = [&](float const* p, Index pitch)
                          COLDPRESS_INLINE_LAMBDA { return p ? load_row(p + row * pitch + column, left) : Vector{}; };
  Vector const one = splat(1), before = row_of(s.before, s.before_pitch);
  if constexpr (cell == Cell::reset_before_gates) {
    auto const given = [&](int n) COLDPRESS_INLINE_LAMBDA { return load(gradients + n * s.units); };
    Vector const r = kept(1), d = given(3);
    put(1, d * before * (r * (one - r)));
    put(3, given(0));
    put(4, fma(d, r, given(4)));
    return;
  }
  Vector dh = row_of(s.upper, s.upper_pitch), carried{};
  if (s.after) dh += load(gradients + (count - 1) * s.units);
  if constexpr (cell != Cell::plain) {
    if (s.carried) carried = load(s.carried + row * s.gradients_pitch + column + count * s.units);
  }
  if constexpr (cell == Cell::lstm) {
    Vector const i = kept(0), f = kept(1), g = kept(2), o = kept(3), t = kept(5);
    Vector const dy = dh * o, dc = fma(dy, fma(-t, t, one), carried), di = dc * i, df = dc * f;
    put(0, di * g * (one - i));
    put(1, df * before * (one - f));
    put(2, di * fma(-g, g, one));
    put(3, dy * t * (one - o));
    put(4, df);
  } else if constexpr (cell == Cell::reset_before_value) {
    Vector const n = kept(0), u = kept(2);
    dh += carried;
    put(0, dh * (one - u) * fma(-n, n, one));
    put(2, dh * (before - n) * (u * (one - u)));
    put(4, dh * u);
  } else if constexpr (cell == Cell::gru) {
    Vector const n = kept(0), r = kept(1), u = kept(2), m = kept(3);
    dh += carried;
    Vector const dn = dh * (one - u) * fma(-n, n, one);
    put(0, dn);
    put(1, dn * m * (r * (one - r)));
    put(2, dh * (before - n) * (u * (one - u)));
    put(3, dn * r);
    put(4, dh * u);
  } else {
    Vector const y = row_of(s.y, s.y_pitch);
    put(0, s.rectified ? (y > 0.f ? dh : Vector{}) : dh * fma(-y, y, one));
  }
}

/// The gradients of the initial state, from those of the sums of each sample's first step. `size` and `hidden` are as
/// below.
template <Cell cell, class Hidden>
void initial_gradient(Recurrence<float> const& r, Hidden size, Index depth, float const* hidden, Index truncation) {
  using Sums = cpu::Sums<cell>;
  Index const units = r.units(), pitch = r.gradients.sample_pitch, behind = Sums::count * units;
  bool const cut = r.cuts_initial(truncation);
  Index const at_once = r.lengths && r.reversed ? 1 : r.x.samples;  // those with the same first step
  for (Index i = 0; i < r.x.samples; ++i) {
    float* const to = r.gradients.at(r.step(-1), i);
    float const* const from = r.gradients.at(r.first_of(i), i);
    if (!cut && i % at_once == 0) {
      multiply(at_once, size, depth, {from + Sums::recurrent * units, pitch, 1}, hidden,
               Layout::pitch(r.weights.hidden), Output<Chain<>>{{}, nullptr, to, pitch, units});
    }
    for (Index u = 0; u < units; u += lanes) {
      if (cut) store(to + u, Vector{});
      if constexpr (cell == Cell::lstm) {
        store(to + behind + u, cut ? Vector{} : load(from + behind + u));
      } else if constexpr (cell != Cell::plain) {
        if (!cut) store(to + u, load(to + u) + load(from + behind + u));
      }
    }
  }
}
/// The gradients of all sums, from the last step to the first. `size` is the number of units, `hidden` W_h transposed,
/// {gates of units, padded size}. `upper` has all steps, or only the one that is computed last.
template <Cell cell, bool more, class Hidden>
void recurrent_gradient(Recurrence<float> const& r, Hidden size, float const* hidden,
                        Sequence<float const> const& upper, Index truncation) {
  using Sums = cpu::Sums<cell>;
  constexpr int count = Sums::count;
  constexpr bool resets = cell == Cell::reset_before;  // then r and z alone multiply h itself
  RecurrentWeights const& w = r.weights;
  Index const units = r.units(), steps = r.x.steps, depth = (resets ? 2 : Sums::gates) * units;
  for (Index n = steps - 1; n >= 0; --n) {
    Index const t = r.step(n), from_end = steps - 1 - n;
    bool const cut = from_end == 0 || (truncation > 0 && from_end % truncation == 0);
    float const* const next = r.gradients.at(r.step(n + 1), 0);
    GateDerivatives s{.gradients = r.gradients.at(t, 0),
                      .after = cut ? nullptr : next,
                      .kept = r.kept.at(t, 0),
                      .carried = !cut || (from_end == 0 && r.has_final_gradient) ? next : nullptr,
                      .upper = nullptr,
                      .y = r.h.at(t, 0),
                      .before = nullptr,
                      .gradients_pitch = r.gradients.sample_pitch,
                      .kept_pitch = r.kept.sample_pitch,
                      .upper_pitch = upper.sample_pitch,
                      .y_pitch = r.h.sample_pitch,
                      .before_pitch = cell == Cell::lstm ? r.kept.sample_pitch : r.h.sample_pitch,
                      .hidden = w.hidden,
                      .units = units,
                      .rectified = r.type == RnnType::relu};
    if (from_end < upper.steps) s.upper = upper.at(upper.steps == steps ? t : 0, 0);
    if (n > 0 || (more && r.has_initial))
      s.before = cell == Cell::lstm ? r.kept.at(r.step(n - 1), 0) + 4 * units : r.h.at(r.step(n - 1), 0);
    if (!cut) {
      multiply(r.x.samples, size, depth, {s.after + Sums::recurrent * units, s.gradients_pitch, 1}, hidden,
               Layout::pitch(w.hidden),
               Output<Chain<>>{{}, nullptr, s.gradients + (count - 1) * units, s.gradients_pitch, units});
    }
    auto const derive = [&](auto pass) COLDPRESS_INLINE_LAMBDA {
      for (Index i = 0; i < r.x.samples; ++i) {
        Index column = 0;
        for (; column < w.hidden; column += lanes) derivatives<pass>(s, i, column);
        for (; column < units; column += lanes) {  // products read whole rows
          for_constants<count>([&](auto q) COLDPRESS_INLINE_LAMBDA {
            store(s.gradients + i * s.gradients_pitch + q * units + column, Vector{});
          });
        }
      }
    };
    if constexpr (resets) {
      derive(std::integral_constant<Cell, Cell::reset_before_value>{});
      multiply(r.x.samples, size, units, {s.gradients, s.gradients_pitch, 1},
               hidden + 2 * units * Layout::pitch(w.hidden), Layout::pitch(w.hidden),
               Output<Chain<>>{{}, nullptr, s.gradients + (count - 1) * units, s.gradients_pitch, units});
      derive(std::integral_constant<Cell, Cell::reset_before_gates>{});
    } else {
      derive(std::integral_constant<Cell, cell>{});
    }
    if constexpr (more) {
      if (r.lengths) clear_over(r, t, r.gradients, r.gradients.columns);
      for (Index i = 0; r.has_final_gradient && i < r.x.samples; ++i) {
        if (r.over(t, i) && r.passes_final_gradient(i))
          freestanding::copy_n(next + i * s.gradients_pitch + 4 * units, units,
                               s.gradients + i * s.gradients_pitch + 4 * units);
      }
    }
  }
  if constexpr (more) {
    if (r.has_initial) initial_gradient<cell>(r, size, depth, hidden, truncation);
  }
}

}  // namespace coldpress::cpu::inline COLDPRESS_ISA
