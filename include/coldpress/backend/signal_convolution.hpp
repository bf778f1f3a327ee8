// Causal convolutions of the blocks of a stream.
#pragma once

// The lanes are steps, and the weights are broadcast, so any number of channels fills the lanes. Each output is summed
// in the order of a whole sequence: by tap, then by channel, and then the bias.

#include <coldpress/backend/epilogue.hpp>
#include <coldpress/backend/single_sample.hpp>

namespace coldpress::cpu::inline COLDPRESS_ISA {

/// f(first step, Int<number of vectors>{}) for all vectors that hold steps of a block.
template <class F>
COLDPRESS_INLINE void for_signal_vectors(Index steps, F f) {
  constexpr int most = tile_columns;
  Index t = 0;
  for (; t + (most - 1) * lanes < steps; t += most * lanes) f(t, Int<most>{});
  if constexpr (most > 2) {
    if (t + lanes < steps) f(t, Int<2>{}), t += 2 * lanes;
  }
  if (t < steps) f(t, Int<1>{});
}
/// The epilogue of a step. All of its signals have whole vectors.
template <template <class, class> class Step, class Chain, class Join>
COLDPRESS_INLINE Output<Chain, Join> signal_output(Step<Chain, Join> const& s) {
  return {s.post_ops, nullptr, s.y, s.y_pitch, s.y_pitch};
}

/// The number of outputs whose sums fill the registers together with w vectors of steps each.
constexpr int signal_rows(int w) {
  constexpr int sums = tile_rows * tile_columns;
  return w == 1 ? sums * 2 / 3 : sums / w;
}

/// Where a block's windows are: tap k of channel c sees the steps from tap(k) + c * pitch on.
struct SignalWindow {
  float const* values;
  Index pitch, ring, next, past, dilation;  // next: the place of the block's first step

  COLDPRESS_INLINE float const* tap(Index k) const {
    Index const at = next - past + k * dilation;
    return values + (at < 0 ? at + ring : at);
  }
};

/// Copies `count` values, none if it is negative.
COLDPRESS_INLINE void copy_steps(float const* from, float* to, Index count) {
  for (Index i = 0; i < count; i += lanes) store_row(to + i, load_row(from + i, count - i), count - i);
}
/// Appends the rows of a block to the rings of a history.
template <class Step>
SignalWindow append(Step const& s, Index steps) {
  Index const channels = s.groups * s.channels, past = (s.taps - 1) * s.dilation;
  if (!s.state) return {s.x, s.x_pitch, 0, 0, 0, s.dilation};
  SignalHistory const history{past, s.most};
  Index const pitch = history.pitch(), ring = history.ring();
  std::int32_t place = 0;
  __builtin_memcpy(&place, s.state, sizeof place);
  Index const next = place, end = next + steps;
  float* const values = s.state + SignalHistory::header;
  for (Index c = 0; c < channels; ++c) {
    float const* const from = s.x + c * s.x_pitch;
    float* const to = values + c * pitch;
    for (Index t = 0; t < steps; t += lanes) {
      Vector v = load(from + t);
      if constexpr (!has_fma) v = flush_small(v, splat(smallest_factor));
      store_row(to + next + t, v, steps - t);
    }
    copy_steps(to + ring, to, end - ring);
    copy_steps(to + next, to + ring + next, (end < s.most ? end : s.most) - next);
  }
  place = static_cast<std::int32_t>(end >= ring ? end - ring : end);
  __builtin_memcpy(s.state, &place, sizeof place);
  return {values, pitch, ring, next, past, s.dilation};
}

/// h outputs from `row` on, and w vectors of steps from step t on. `weight` and `first` are those of a group: its first
/// weight, and its first channel in the windows.
template <int h, int w, class Step>
__attribute__((noinline)) void signal_tile(Step const& s, SignalWindow const& window, float const* weight, Index first,
                                           Index row, Index t) {
  Vector sum[h][w] = {};
  Index const channels = s.channels, pitch = window.pitch, weight_pitch = s.weight_pitch;
  for (Index k = 0; k < s.taps; ++k) {
    float const* at = window.tap(k) + first * pitch + t;
    for (Index c = 0; c < channels; ++c, at += pitch, weight += weight_pitch) {
      Vector x[w];
      unroll<w>([&](int j) COLDPRESS_INLINE_LAMBDA {
        x[j] = load(at + j * lanes);
        if constexpr (!has_fma) x[j] = flush_small(x[j], splat(smallest_factor));
      });
      unroll<h>([&](int i) COLDPRESS_INLINE_LAMBDA {
        Vector const a = splat(weight[i]);
        unroll<w>([&](int j) COLDPRESS_INLINE_LAMBDA { sum[i][j] = fma(a, x[j], sum[i][j]); });
      });
    }
  }
  if (s.bias) {
    unroll<h>([&](int i) COLDPRESS_INLINE_LAMBDA {
      Vector const b = splat(s.bias[row + i]);
      unroll<w>([&](int j) COLDPRESS_INLINE_LAMBDA { sum[i][j] += b; });
    });
  }
  signal_output(s).finish(sum, row, t);
}

/// The number of outputs of a group, as a constant where the compiler knows it.
template <class G>
constexpr auto outputs_of(G const& g) {
  if constexpr (requires { G::known; }) {
    return Fixed<G::known.group_outputs()>{};
  } else {
    return g.group_outputs();
  }
}
/// A block of a convolution; `outputs` is the number of a group's outputs, as a constant where the compiler knows it.
template <class Outputs, class Step>
COLDPRESS_INLINE void convolve_signal(Step const& s, Outputs outputs) {
  Index const steps = *s.steps;
  SignalWindow const window = append(s, steps);
  auto const column = [&](Index t, auto w) COLDPRESS_INLINE_LAMBDA {
    for (Index group = 0; group < s.groups; ++group) {
      Index const before = group * outputs;
      split<signal_rows(w)>(outputs, [&](Index row, auto h) COLDPRESS_INLINE_LAMBDA {
        signal_tile<h, w>(s, window, s.weight + before + row, group * s.channels, before + row, t);
      });
    }
  };
  for_signal_vectors(steps, column);
}
template <class Chain, class Join>
void whole_convolve_signal(void const* step) {
  auto const& s = *static_cast<SignalConvolution<Chain, Join> const*>(step);
  convolve_signal(s, s.outputs);
}
template <class Chain, class Join>
Kernel kernel_of(SignalConvolution<Chain, Join> const&) {
  return whole_convolve_signal<Chain, Join>;
}

/// y = post_ops(x), value by value.
template <class Chain, class Join>
COLDPRESS_INLINE void map_signal(SignalMap<Chain, Join> const& s) {
  auto const epilogue = signal_output(s);
  for_signal_vectors(*s.steps, [&](Index t, auto w) COLDPRESS_INLINE_LAMBDA {
    for (Index row = 0; row < s.features; ++row) {
      Vector v[1][w];
      unroll<w>([&](int j) COLDPRESS_INLINE_LAMBDA { v[0][j] = load(s.x + row * s.x_pitch + t + j * lanes); });
      epilogue.finish(v, row, t);
    }
  });
}
template <class Chain, class Join>
void whole_map_signal(void const* step) {
  map_signal(*static_cast<SignalMap<Chain, Join> const*>(step));
}
template <class Chain, class Join>
Kernel kernel_of(SignalMap<Chain, Join> const&) {
  return whole_map_signal<Chain, Join>;
}

}  // namespace coldpress::cpu::inline COLDPRESS_ISA
