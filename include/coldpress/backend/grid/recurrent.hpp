// Recurrent layers on a GPU.
#pragma once

// The terms of x of all steps are one matrix product. Then each block processes some samples from the first step to the
// last, so that blocks need not wait for each other in between.

#include <coldpress/backend/grid/multiply.hpp>
#include <coldpress/core/pointwise.hpp>
#include <coldpress/core/recurrent.hpp>

namespace coldpress::grid {

/// The steps and samples of a sequence as a matrix, with one row for each sample of each step.
struct Steps {
  static constexpr bool along_k = true;
  Sequence<float const> x;
  constexpr float value(Index, Index n, Index k) const {
    return x.at(quotient(n, x.samples), remainder(n, x.samples))[k * x.column_pitch];
  }
};

/// Where a sum of a unit is stored. A layer without gates stores it where h will be.
template <class R>
constexpr float* sum_at(R const& r, Index step, Index sample, Index sum, Index unit) {
  return r.weights.gates == 1 ? r.h.at(step, sample) + unit * r.h.column_pitch
                              : r.kept.at(step, sample) + sum * r.units() + unit;
}

/// The approximate clocks that a block takes for all steps of some samples.
template <class R>
constexpr Index sweep_clocks(R const& r, Index samples, Index waiting) {
  RecurrentWeights const& w = r.weights;
  Index const meetings = resets_before(r.type, r.reset_after) ? 2 : 1;  // per step
  return r.x.steps * (meetings * waiting + samples * w.gates * w.hidden * w.hidden / assumed::multiply_adds);
}

/// Calls f(sample, unit) by all threads of a block.
template <class F>
constexpr void each_unit(Block const& block, Index first, Index count, Index hidden, F const& f) {
  block.each([&](int thread) {
    for (Index e = thread; e < count * hidden; e += threads) f(first + quotient(e, hidden), remainder(e, hidden));
  });
}

/// Writes zeros to a unit of a step that a sample does not have, or the initial state if it is passed on.
template <class R>
constexpr void clear_unit(R const& r, Index step, Index sample, Index u) {
  bool const passes = r.passes_initial(sample);
  r.h.at(step, sample)[u * r.h.column_pitch] = passes ? r.h.at(r.step(-1), sample)[u * r.h.column_pitch] : 0;
  for (Index k = u; k < r.kept.columns; k += r.units()) r.kept.at(step, sample)[k] = 0;
  Index const c = 4 * r.units() + u;
  if (passes && r.type == RnnType::lstm) r.kept.at(step, sample)[c] = r.kept.at(r.step(-1), sample)[c];
}

/// A step of a GRU whose reset gate is applied before the product. `across` is W_h transposed, and sums without the
/// terms of h are in r.kept; the threads meet when r∘h of all units is there.
template <class R>
constexpr void step_with_reset_before(Block const& block, R const& r, float const* across, float const* bias,
                                      Index first, Index count, Index n) {
  Index const hidden = r.weights.hidden, units = r.units(), rows = 3 * hidden, t = r.step(n);
  auto const before = [&](Index sample) {
    return r.follows(n) ? r.h.at(r.step(n - 1), sample) : r.state ? r.state + sample * r.state_pitch : nullptr;
  };
  Index const stride = r.follows(n) ? r.h.column_pitch : 1;
  each_unit(block, first, count, hidden, [&](Index sample, Index u) {
    if (r.over(t, sample)) return clear_unit(r, t, sample, u);
    float const* const h = before(sample);
    float* const kept = r.kept.at(t, sample) + u;
    float reset = kept[units], z = kept[2 * units];
    for (Index k = 0; h && k < hidden; ++k) {
      reset = Math<float>::fma(across[k * rows + u], h[k * stride], reset);
      z = Math<float>::fma(across[k * rows + hidden + u], h[k * stride], z);
    }
    reset = Math<float>::sigmoid(reset);
    kept[units] = reset, kept[2 * units] = Math<float>::sigmoid(z);
    kept[3 * units] = h ? reset * h[u * stride] : 0.0f;
  });
  each_unit(block, first, count, hidden, [&](Index sample, Index u) {
    if (r.over(t, sample)) return;
    float const* const h = before(sample);
    float* const kept = r.kept.at(t, sample);
    float sum = bias[2 * hidden + u];
    for (Index k = 0; k < hidden; ++k)
      sum = Math<float>::fma(across[k * rows + 2 * hidden + u], kept[3 * units + k], sum);
    float const value = Math<float>::tanh(kept[u] + sum), z = kept[2 * units + u];
    kept[u] = value;
    r.h.at(t, sample)[u * r.h.column_pitch] = Math<float>::fma(z, h ? h[u * stride] : 0.0f, (1 - z) * value);
  });
}

/// All steps. `across` receives W_h transposed: for each column, the values of all gates' units.
template <class R>
constexpr void recurrent(ThreadGroup const& thread_group, R const& r, float const* weights, float* across) {
  RecurrentWeights const& w = r.weights;
  Index const gates = w.gates, hidden = w.hidden, rows = gates * hidden, samples = r.x.samples, steps = r.x.steps,
              inputs = w.inputs(r.part), units = r.units();
  PackedPart<float const> const p{w, r.part, weights};
  thread_group.each(hidden * rows,
                    [&](Index e) { across[e] = p.of_h[remainder(e, rows) * hidden + quotient(e, rows)]; });
  auto const put = [&](Index n, Index row, float sum) {
    Index const gate = quotient(row, hidden), unit = remainder(row, hidden), step = quotient(n, samples),
                sample = remainder(n, samples);
    float bias = p.bias_x[row];
    if (gates != 3 || gate != 2) bias += p.bias_h[row];  // the GRU's n_h is a separate sum
    *sum_at(r, step, sample, sum_of_x(gates, gate), unit) = sum + bias;
  };
  if (inputs > 0) {
    multiply<64>(thread_group, {1, steps * samples, rows, inputs}, Steps{r.x}, Matrix<true>{p.of_x, 1, inputs},
                 [&](Index, Index n, Index row, float sum) { put(n, row, sum); });
  } else {
    thread_group.each(steps * samples * rows, [&](Index e) {
      Index const n = quotient(e, rows), row = remainder(e, rows);
      put(n, row, r.x.at(quotient(n, samples), remainder(n, samples))[remainder(row, hidden) * r.x.column_pitch]);
    });
  }
  Index const at_once = freestanding::max<Index>(1, threads / hidden);  // samples per block
  auto const sweep = [&](Block const& block, Index number) {
    Index const first = number * at_once, count = freestanding::min(at_once, samples - first);
    for (Index n = 0; n < steps; ++n) {
      if (resets_before(r.type, r.reset_after)) {
        step_with_reset_before(block, r, across, p.bias_h, first, count, n);
        continue;
      }
      Index const t = r.step(n), before = r.follows(n) ? r.step(n - 1) : 0;
      // A stream's h is read by all threads before any thread writes it.
      auto const one = [&](Index sample, Index u) {
        if (r.over(t, sample)) return clear_unit(r, t, sample, u);
        float* const state = r.state ? r.state + sample * r.state_pitch : nullptr;
        float const* const h = r.follows(n) ? r.h.at(before, sample) : state;
        Index const stride = r.follows(n) ? r.h.column_pitch : 1;
        float z[4] = {};
        for (Index q = 0; q < gates; ++q) {
          Index const sum = sum_of_h(gates, q);
          z[sum] = gates == 3 && q == 2 ? p.bias_h[q * hidden + u] : *sum_at(r, t, sample, sum, u);
        }
        for (Index k = 0; h && k < hidden; ++k) {
          for (Index q = 0; q < gates; ++q) {
            float& sum = z[sum_of_h(gates, q)];
            sum = Math<float>::fma(across[k * rows + q * hidden + u], h[k * stride], sum);
          }
        }
        float* const kept = r.kept.at(t, sample);
        float value = 0;
        if (r.type == RnnType::lstm) {
          float const c_before = r.follows(n) ? r.kept.at(before, sample)[4 * units + u] : state ? state[units + u] : 0;
          for (Index q = 0; q < 4; ++q) z[q] = q == 2 ? Math<float>::tanh(z[q]) : Math<float>::sigmoid(z[q]);
          float const c = Math<float>::fma(z[1], c_before, z[0] * z[2]), top = Math<float>::tanh(c);
          for (Index q = 0; q < 4; ++q) kept[q * units + u] = z[q];
          kept[4 * units + u] = c, kept[5 * units + u] = top;
          value = z[3] * top;
        } else if (r.type == RnnType::gru) {
          z[0] = *sum_at(r, t, sample, 0, u);
          for (Index q = 1; q < 3; ++q) z[q] = Math<float>::sigmoid(z[q]);
          z[0] = Math<float>::tanh(Math<float>::fma(z[1], z[3], z[0]));
          for (Index q = 0; q < 4; ++q) kept[q * units + u] = z[q];
          value = Math<float>::fma(z[2], h ? h[u * stride] : 0.0f, (1 - z[2]) * z[0]);
        } else {
          value = r.type == RnnType::tanh ? Math<float>::tanh(z[0]) : z[0] < 0 ? 0 : z[0];
        }
        r.h.at(t, sample)[u * r.h.column_pitch] = value;
      };
      each_unit(block, first, count, hidden, one);
    }
    if (!r.state) return;
    Index const last = r.step(steps - 1);
    each_unit(block, first, count, hidden, [&](Index sample, Index u) {
      float* const state = r.state + sample * r.state_pitch;
      state[u] = r.h.at(last, sample)[u * r.h.column_pitch];
      if (r.type == RnnType::lstm) state[units + u] = r.kept.at(last, sample)[4 * units + u];
    });
  };
  thread_group.each_block(parts(samples, at_once), sweep, Kind::values,
                          sweep_clocks(r, freestanding::min(at_once, samples), thread_group.waiting()));
}

/// Computes the gradients of the sums from the gradients of h, which are of all steps or only of the last one computed.
template <class R>
constexpr void recurrent_gradient(ThreadGroup const& thread_group, R const& r, float const* weights,
                                  Sequence<float const> const& upper, Index truncation) {
  RecurrentWeights const& w = r.weights;
  Index const gates = w.gates, hidden = w.hidden, units = r.units(), steps = r.x.steps, samples = r.x.samples;
  PackedPart<float const> const p{w, r.part, weights};
  bool const before_product = resets_before(r.type, r.reset_after);
  Index const direct = before_product ? 2 : gates;  // those that multiply h itself
  Index const at_once = freestanding::max<Index>(1, threads / hidden);
  auto const sweep = [&](Block const& block, Index number) {
    Index const first = number * at_once, count = freestanding::min(at_once, samples - first);
    // Adds to the gradient of a unit's h what the sums of the step after it give.
    auto const add_product = [&](float dh, float const* after, Index u) {
      for (Index q = 0; q < direct; ++q) {
        float const* const from = after + sum_of_h(gates, q) * units;
        for (Index v = 0; v < hidden; ++v) dh = Math<float>::fma(p.of_h[(q * hidden + v) * hidden + u], from[v], dh);
      }
      return dh;
    };
    for (Index n = steps - 1; n >= 0; --n) {
      Index const t = r.step(n), from_end = steps - 1 - n;
      bool const cut = from_end == 0 || (truncation > 0 && from_end % truncation == 0);
      auto const one = [&](Index i, Index u) {
        if (r.over(t, i)) {
          for (Index k = u; k < r.gradients.columns; k += units) r.gradients.at(t, i)[k] = 0;
          if (r.passes_final_gradient(i))
            r.gradients.at(t, i)[4 * units + u] = r.gradients.at(r.step(n + 1), i)[4 * units + u];
          return;
        }
        float const* const kept = r.kept.at(t, i);
        float const* const next = r.gradients.at(r.step(n + 1), i);
        float const* const after = cut ? nullptr : next;
        float const* const carried = from_end == 0 && r.has_final_gradient ? next : after;
        float dh = upper.steps == steps ? upper.at(t, i)[u * upper.column_pitch]
                   : from_end == 0      ? upper.at(0, i)[u * upper.column_pitch]
                                        : 0;
        if (after) dh = add_product(dh, after, u);
        float* const gradient = r.gradients.at(t, i) + u;
        if (r.type == RnnType::lstm) {
          float const a = kept[u], f = kept[units + u], g = kept[2 * units + u], o = kept[3 * units + u],
                      tanh_c = kept[5 * units + u];
          float const before = r.follows(n) ? r.kept.at(r.step(n - 1), i)[4 * units + u] : 0;
          float const dc = Math<float>::fma(dh * o, 1 - tanh_c * tanh_c, carried ? carried[4 * units + u] : 0.0f);
          gradient[0] = dc * g * a * (1 - a);
          gradient[units] = dc * before * f * (1 - f);
          gradient[2 * units] = dc * a * (1 - g * g);
          gradient[3 * units] = dh * tanh_c * o * (1 - o);
          gradient[4 * units] = dc * f;
        } else if (r.type == RnnType::gru) {
          dh += after ? after[4 * units + u] : 0;
          float const y = kept[u], reset = kept[units + u], z = kept[2 * units + u], m = kept[3 * units + u];
          float const before = r.follows(n) ? r.h.at(r.step(n - 1), i)[u * r.h.column_pitch] : 0;
          float const dy = dh * (1 - z) * (1 - y * y);
          gradient[0] = dy;
          gradient[units] = dy * m * reset * (1 - reset);
          gradient[2 * units] = dh * (before - y) * z * (1 - z);
          gradient[3 * units] = before_product ? dy : dy * reset;
          gradient[4 * units] = dh * z;
        } else {
          float const y = r.h.at(t, i)[u * r.h.column_pitch];
          gradient[0] = r.type == RnnType::tanh ? dh * (1 - y * y) : y > 0 ? dh : 0;
        }
      };
      each_unit(block, first, count, hidden, one);
      if (!before_product) continue;
      each_unit(block, first, count, hidden, [&](Index i, Index u) {  // when the gradients of all n are there
        if (r.over(t, i)) return;
        float* const gradients = r.gradients.at(t, i);
        float of_state = 0;  // of r∘h
        for (Index v = 0; v < hidden; ++v)
          of_state = Math<float>::fma(p.of_h[(2 * hidden + v) * hidden + u], gradients[v], of_state);
        float const reset = r.kept.at(t, i)[units + u];
        float const before = r.follows(n) ? r.h.at(r.step(n - 1), i)[u * r.h.column_pitch] : 0;
        gradients[units + u] = of_state * before * reset * (1 - reset);
        gradients[4 * units + u] = Math<float>::fma(of_state, reset, gradients[4 * units + u]);
      });
    }
    if constexpr (R::other_inputs) {
      if (!r.has_initial) return;
      bool const cut = r.cuts_initial(truncation);
      each_unit(block, first, count, hidden, [&](Index i, Index u) {
        float const* const after = r.gradients.at(r.first_of(i), i);
        float* const to = r.gradients.at(r.step(-1), i) + u;
        float const behind = gates > 1 && !cut ? after[4 * units + u] : 0.0f;
        to[0] = cut ? 0 : add_product(gates == 3 ? behind : 0.0f, after, u);
        if (gates == 4) to[4 * units] = behind;
      });
    }
  };
  thread_group.each_block(parts(samples, at_once), sweep, Kind::values,
                          sweep_clocks(r, freestanding::min(at_once, samples), thread_group.waiting()));
}

/// The gradients of the gates' sums as a matrix; a row is one gate's unit, and the other axis is steps and samples.
/// `of_h` selects the sums that the terms of h are added to.
template <bool along>
struct GateGradients {
  static constexpr bool along_k = along;
  Recurrence<float> const& r;
  bool of_h;
  constexpr float at(Index step, Index sample, Index row) const {
    Index const gates = r.weights.gates, gate = quotient(row, r.weights.hidden);
    return r.gradients.at(
        step,
        sample)[(of_h ? sum_of_h(gates, gate) : sum_of_x(gates, gate)) * r.units() + remainder(row, r.weights.hidden)];
  }
};
/// The first operand of the input gradient, whose rows are steps and samples in memory order.
struct GatesByStep : GateGradients<true> {
  constexpr float value(Index, Index n, Index row) const {
    return at(quotient(n, r.x.samples), remainder(n, r.x.samples), row);
  }
};
/// The first operand of a weight gradient, whose terms are the samples of the steps from one on that is computed
/// `first_step`-th.
struct GatesByUnit : GateGradients<false> {
  Index first_row = 0, first_step = 0;
  constexpr float value(Index, Index row, Index n) const {
    return at(r.step(quotient(n, r.x.samples) + first_step), remainder(n, r.x.samples), first_row + row);
  }
};
/// The second operand of a weight gradient: x or r∘h of these steps, or h of the steps before.
struct Before {
  static constexpr bool along_k = false;
  Recurrence<float> const& r;
  Sequence<float const> of;
  Index first_step = 0;  // of those that are computed
  constexpr float value(Index, Index n, Index column) const {
    Index const step = r.step(quotient(n, r.x.samples) + first_step), sample = remainder(n, r.x.samples);
    return of.at(step, sample)[column * of.column_pitch];
  }
};

}  // namespace coldpress::grid
