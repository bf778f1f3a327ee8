// Recurrent layers in plain loops over the packed weights, formula by formula, for float and double.
#pragma once

#include <coldpress/core/pointwise.hpp>
#include <coldpress/core/recurrent.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace coldpress::detail {

template <class Real>
void reference_recurrent(Recurrence<Real> const& r, Real const* weights) {
  Index const gates = r.weights.gates, hidden = r.weights.hidden, units = r.units();
  bool const before_product = resets_before(r.type, r.reset_after);
  PackedPart<Real const> const w{r.weights, r.part, weights};
  for (Index n = 0; n < r.x.steps; ++n) {
    for (Index i = 0; i < r.x.samples; ++i) {
      Index const t = r.step(n);
      Real* const state = r.state ? r.state + i * r.state_pitch : nullptr;
      Real const* const x = r.x.at(t, i);
      Real const* const before = r.follows(n) ? r.h.at(r.step(n - 1), i) : state;
      Real* const kept = r.kept.at(t, i);
      if (r.over(t, i)) {
        std::fill_n(r.h.at(t, i), hidden, Real{});
        std::fill_n(kept, r.kept.columns, Real{});
        if (r.passes_initial(i)) {
          std::copy_n(r.h.at(r.step(-1), i), hidden, r.h.at(t, i));
          if (r.type == RnnType::lstm) std::copy_n(r.kept.at(r.step(-1), i) + 4 * units, hidden, kept + 4 * units);
        }
        continue;
      }
      auto const add = [&](Real* z, Index q, Index u, Real const* given) {
        Index const row = q * hidden + u;
        Real from_x = w.bias_x[row], from_h = w.bias_h[row];
        if (w.inputs == 0) from_x += x[u];
        for (Index k = 0; k < w.inputs; ++k) from_x += w.of_x[row * w.inputs + k] * x[k];
        for (Index k = 0; given && k < hidden; ++k) from_h += w.of_h[row * hidden + k] * given[k];
        z[sum_of_x(gates, q)] += from_x;
        z[sum_of_h(gates, q)] += from_h;
      };
      for (Index u = 0; before_product && u < hidden; ++u) {  // r∘h of all units comes before any n
        Real z[4] = {};
        add(z, 0, u, before);
        kept[units + u] = Math<Real>::sigmoid(z[1]);
        kept[3 * units + u] = before ? kept[units + u] * before[u] : 0;
      }
      for (Index u = 0; u < hidden; ++u) {
        Real z[4] = {};
        for (Index q = 0; q < gates; ++q) add(z, q, u, before_product && q == 2 ? kept + 3 * units : before);
        Real& h = r.h.at(t, i)[u];
        if (r.type == RnnType::lstm) {
          Real const c_before = r.follows(n) ? r.kept.at(r.step(n - 1), i)[4 * units + u]
                                : state      ? state[units + u]
                                             : 0;
          for (Index q : {0, 1, 3}) z[q] = Math<Real>::sigmoid(z[q]);
          z[2] = std::tanh(z[2]);
          Real const c = z[1] * c_before + z[0] * z[2];
          for (Index q = 0; q < 4; ++q) kept[q * units + u] = z[q];
          kept[4 * units + u] = c;
          kept[5 * units + u] = std::tanh(c);
          h = z[3] * std::tanh(c);
        } else if (r.type == RnnType::gru) {
          for (Index q : {1, 2}) z[q] = Math<Real>::sigmoid(z[q]);
          z[0] = std::tanh(z[0] + (before_product ? z[3] : z[1] * z[3]));
          for (Index q = 0; q < (before_product ? 3 : 4); ++q) kept[q * units + u] = z[q];
          h = (1 - z[2]) * z[0] + (before ? z[2] * before[u] : 0);
        } else {
          h = r.type == RnnType::tanh ? std::tanh(z[0]) : z[0] < 0 ? 0 : z[0];
        }
      }
    }
  }
  for (Index i = 0; r.state && i < r.x.samples; ++i) {
    Index const last = r.step(r.x.steps - 1);
    Real* const state = r.state + i * r.state_pitch;
    std::copy_n(r.h.at(last, i), hidden, state);
    if (r.type == RnnType::lstm) std::copy_n(r.kept.at(last, i) + 4 * units, hidden, state + units);
  }
}

template <class Real>
void reference_recurrent_gradient(Recurrence<Real> const& r, Real const* weights, Sequence<Real const> const& upper,
                                  Index truncation) {
  Index const gates = r.weights.gates, hidden = r.weights.hidden, units = r.units(), steps = r.x.steps;
  bool const before_product = resets_before(r.type, r.reset_after);
  Index const direct = before_product ? 2 : gates;  // those that multiply h itself
  PackedPart<Real const> const w{r.weights, r.part, weights};
  // Adds to the gradient of a unit's h what the sums of the step after it give.
  auto const add_product = [&](Real dh, Real const* after, Index u) {
    for (Index row = 0; row < direct * hidden; ++row)
      dh += w.of_h[row * hidden + u] * after[sum_of_h(gates, row / hidden) * units + row % hidden];
    return dh;
  };
  for (Index n = steps - 1; n >= 0; --n) {
    Index const t = r.step(n), from_end = steps - 1 - n;
    bool const cut = from_end == 0 || (truncation > 0 && from_end % truncation == 0);
    for (Index i = 0; i < r.x.samples; ++i) {
      if (r.over(t, i)) {
        Real* const to = r.gradients.at(t, i);
        std::fill_n(to, r.gradients.columns, Real{});
        if (r.passes_final_gradient(i))
          std::copy_n(r.gradients.at(r.step(n + 1), i) + 4 * units, hidden, to + 4 * units);
        continue;
      }
      Real const* const kept = r.kept.at(t, i);
      Real const* const next = r.gradients.at(r.step(n + 1), i);
      Real const* const after = cut ? nullptr : next;
      Real const* const carried = from_end == 0 && r.has_final_gradient ? next : after;
      for (Index u = 0; u < hidden; ++u) {
        Real dh = upper.steps == steps ? upper.at(t, i)[u] : from_end == 0 ? upper.at(0, i)[u] : 0;
        if (after) dh = add_product(dh, after, u);
        auto const slot = [&](Index q) { return kept[q * units + u]; };
        auto const gradient = [&](Index q) -> Real& { return r.gradients.at(t, i)[q * units + u]; };
        if (r.type == RnnType::lstm) {
          Real const a = slot(0), f = slot(1), g = slot(2), o = slot(3), tanh_c = slot(5);
          Real const before = r.follows(n) ? r.kept.at(r.step(n - 1), i)[4 * units + u] : 0;
          Real const dc = dh * o * (1 - tanh_c * tanh_c) + (carried ? carried[4 * units + u] : 0);
          gradient(0) = dc * g * a * (1 - a);
          gradient(1) = dc * before * f * (1 - f);
          gradient(2) = dc * a * (1 - g * g);
          gradient(3) = dh * tanh_c * o * (1 - o);
          gradient(4) = dc * f;
        } else if (r.type == RnnType::gru) {
          dh += after ? after[4 * units + u] : 0;
          Real const y = slot(0), reset = slot(1), z = slot(2), m = slot(3);
          Real const before = r.follows(n) ? r.h.at(r.step(n - 1), i)[u] : 0, dy = dh * (1 - z) * (1 - y * y);
          gradient(0) = dy;
          gradient(1) = dy * m * reset * (1 - reset);
          gradient(2) = dh * (before - y) * z * (1 - z);
          gradient(3) = before_product ? dy : dy * reset;
          gradient(4) = dh * z;
        } else {
          Real const y = r.h.at(t, i)[u];
          gradient(0) = r.type == RnnType::tanh ? dh * (1 - y * y) : y > 0 ? dh : 0;
        }
      }
      for (Index u = 0; before_product && u < hidden; ++u) {
        Real* const gradients = r.gradients.at(t, i);
        Real of_state = 0;  // of r∘h
        for (Index v = 0; v < hidden; ++v) of_state += w.of_h[(2 * hidden + v) * hidden + u] * gradients[v];
        Real const reset = kept[units + u], before = r.follows(n) ? r.h.at(r.step(n - 1), i)[u] : 0;
        gradients[units + u] = of_state * before * reset * (1 - reset);
        gradients[4 * units + u] += of_state * reset;
      }
    }
  }
  for (Index i = 0; r.has_initial && i < r.x.samples; ++i) {
    bool const cut = r.cuts_initial(truncation);
    Real const* const after = r.gradients.at(r.first_of(i), i);
    Real* const to = r.gradients.at(r.step(-1), i);
    for (Index u = 0; u < hidden; ++u) {
      Real const behind = gates > 1 && !cut ? after[4 * units + u] : 0;
      to[u] = cut ? 0 : add_product(gates == 3 ? behind : 0, after, u);
      if (gates == 4) to[4 * units + u] = behind;
    }
  }
}

template <class Real>
void reference_recurrent_input_gradient(Recurrence<Real> const& r, Real const* weights, Rows<Real> dx) {
  Index const gates = r.weights.gates, hidden = r.weights.hidden;
  PackedPart<Real const> const w{r.weights, r.part, weights};
  for (Index n = 0; n < dx.rows; ++n) {
    Real const* const gradients = r.gradients.at(0, 0) + n * r.gradients.sample_pitch;
    for (Index k = 0; k < dx.columns; ++k) {
      Real sum = 0;
      for (Index row = 0; row < gates * hidden; ++row) {
        Real const weight = w.inputs > 0 ? w.of_x[row * w.inputs + k] : row % hidden == k ? 1 : 0;
        sum += weight * gradients[sum_of_x(gates, row / hidden) * r.units() + row % hidden];
      }
      dx.row(n)[k] = sum;
    }
  }
}

/// The gradient of all packed weights of the part; `give(offset, values)` receives each contiguous range of them.
template <class Real, class Give>
void reference_recurrent_weight_gradient(Recurrence<Real> const& r, Give give) {
  Index const gates = r.weights.gates, hidden = r.weights.hidden, biases = r.weights.biases();
  Index const inputs = r.weights.inputs(r.part);
  std::vector<Real> matrices(static_cast<std::size_t>(biases * (inputs + hidden))),
      bias(static_cast<std::size_t>(2 * biases));
  for (Index row = 0; row < biases; ++row) {
    for (Index n = 0; n < r.x.steps; ++n) {
      for (Index i = 0; i < r.x.samples; ++i) {
        Index const t = r.step(n);
        auto const gradient = [&](Index sum) { return r.gradients.at(t, i)[sum * r.units() + row % hidden]; };
        Real const of_x = gradient(sum_of_x(gates, row / hidden)), of_h = gradient(sum_of_h(gates, row / hidden));
        bool const reset = resets_before(r.type, r.reset_after) && row / hidden == 2;
        auto const state = [&] { return reset ? r.reset_state().at(t, i) : r.h.at(r.step(n - 1), i); };
        for (Index k = 0; k < inputs; ++k)
          matrices[static_cast<std::size_t>(row * inputs + k)] += of_x * r.x.at(t, i)[k];
        for (Index k = 0; r.follows(n) && k < hidden; ++k) {
          matrices[static_cast<std::size_t>(biases * inputs + row * hidden + k)] += of_h * state()[k];
        }
        bias[static_cast<std::size_t>(row)] += of_x;
        bias[static_cast<std::size_t>(biases + row)] += of_h;
      }
    }
  }
  give(r.weights.matrices(r.part), matrices);
  give(r.weights.matrices(r.weights.parts()) + 2 * r.part * biases, bias);
}

}  // namespace coldpress::detail
