// Convolutions of sequences, one step after the other.
#pragma once

// Each step is added to the future outputs that need it. These sums have the order of those of a whole sequence.

#include <coldpress/backend/epilogue.hpp>
#include <coldpress/backend/single_sample.hpp>

namespace coldpress::cpu::inline COLDPRESS_ISA {

/// Up to this many values of x are flushed once before a step. Values of longer rows are flushed each time that they
/// are multiplied.
inline constexpr Index most_flushed_once = 64;
/// Returns x with zero for small values, in `memory`; if x is longer, returns x itself.
COLDPRESS_INLINE float const* flushed(float const* x, Index count, float* memory) {
  if (count > most_flushed_once) return x;
  Vector const smallest = splat(smallest_factor);
  Index i = 0;
  for (; i + lanes <= count; i += lanes) store(memory + i, flush_small(load(x + i), smallest));
  for (; i < count; ++i) memory[i] = flush_small(splat(x[i]), smallest)[0];
  return memory;
}

/// Adds the terms of taps [first, first + count) to one vector of sums, of a group whose arguments these are: each sum
/// moves on by one tap. Returns the last one.
template <int count, class Step>
COLDPRESS_INLINE Vector push(Step const& s, float const* x, float const* weight, float* sums, Index first, bool last) {
  Index const channels = s.channels, weight_pitch = s.weight_pitch, tap_pitch = channels * weight_pitch;
  weight += first * tap_pitch, sums += first * lanes;
  Vector sum[count];
  for_constants<count>(
      [&](auto j) COLDPRESS_INLINE_LAMBDA { sum[j] = j == 0 && first == 0 ? Vector{} : load(sums + (j - 1) * lanes); });
  for (Index c = 0; c < channels; ++c, weight += weight_pitch) {
    Vector value = splat(x[c]);
    if constexpr (!has_fma) {
      if (s.groups * channels > most_flushed_once) value = flush_small(value, splat(smallest_factor));
    }
    COLDPRESS_UNROLL
    for (int j = 0; j < count; ++j) sum[j] = fma(value, load(weight + j * tap_pitch), sum[j]);
  }
  for_constants<count>([&](auto j) COLDPRESS_INLINE_LAMBDA {
    if (j + 1 < count || !last) store(sums + j * lanes, sum[j]);
  });
  return sum[count - 1];
}
/// The largest number of taps that are summed at once. More taps are summed in parts, from the last part to the first,
/// because each part frees its place for the one before.
inline constexpr int most_taps_at_once = 8;
/// Finishes one vector of sums.
template <class Chain, class Join>
COLDPRESS_INLINE void finish_step(ConvolutionStep<Chain, Join> const& s, Vector (&sum)[1][1], Index column) {
  Output<Chain, Join>{s.post_ops, nullptr, s.y, s.y_pitch, s.writable}.finish(sum, s.row, s.column + column);
}
template <class Chain, class Join>
COLDPRESS_INLINE void finish_step(Fused<ConvolutionStep<Chain, Join>> const& s, Vector (&sum)[1][1], Index column) {
  if (s.mixed.weight) {
    Index const left = s.groups * s.outputs - column;
    Vector x = splat(*s.mixed.x.data);
    if constexpr (!has_fma) x = flush_small(x, splat(smallest_factor));
    Vector product = fma(x, load_row(s.mixed.weight + column, left), Vector{});
    if (s.mixed.bias) product += load_row(s.mixed.bias + column, left);
    sum[0][0] += product;
  }
  Output<Chain, Join, StreamOps<Chain>> const output{s.post_ops, nullptr, s.y, s.y_pitch, s.writable};
  Index const at = s.column + column;
  output.finish(sum, s.row, at, [&](int, int, Vector v) COLDPRESS_INLINE_LAMBDA {
    Vector const before = s.total.y.data ? load_row(s.total.x.data + at, s.total.x.features - at) : Vector{};
    store_row(s.y + s.row * s.y_pitch + at, v, s.writable - at);
    if (s.total.y.data) store_row(s.total.y.data + at, before + v, s.total.y.features - at);
  });
}
/// The step of one group with one tap, whose outputs begin at `column`: several vectors are summed side by side, since
/// each would wait for its last term.
template <class Step>
COLDPRESS_INLINE void mix_step(Step const& s, float const* x, Index column) {
  split<tile_columns>(vectors(s.outputs), [&](Index first, auto number) COLDPRESS_INLINE_LAMBDA {
    constexpr int w = number;
    Index const k = first * lanes, channels = s.channels, pitch = s.weight_pitch;
    float const* weight = s.weight + column + k;
    Vector sums[w] = {};
    for (Index c = 0; c < channels; ++c, weight += pitch) {
      Vector value = splat(x[c]);
      if constexpr (!has_fma) {
        if (s.groups * channels > most_flushed_once) value = flush_small(value, splat(smallest_factor));
      }
      COLDPRESS_UNROLL
      for (int j = 0; j < w; ++j) sums[j] = fma(value, load(weight + j * lanes), sums[j]);
    }
    for_constants<w>([&](auto j) COLDPRESS_INLINE_LAMBDA {
      Vector sum[1][1] = {{sums[j]}};
      Index const at = k + j * lanes;
      if (s.bias) sum[0][0] += load_row(s.bias + column + at, s.outputs - at);
      finish_step(s, sum, column + at);
    });
  });
}
/// One step. `single`: all taps are summed at once and there are `most` of them; otherwise the parts have `most` taps
/// or one less. `one`: there is only one group and one vector of outputs.
template <int most, bool single, bool one, class Step>
COLDPRESS_INLINE void convolve_step(Step const& s) {
  Index const taps = single ? most : s.taps, turns = s.dilation, outputs = s.outputs;
  std::int32_t now = 0;
  float* const turn = s.state + turns * s.turn_pitch;
  if (turns > 1) {
    __builtin_memcpy(&now, turn, sizeof now);
    std::int32_t const next = now + 1 == turns ? 0 : now + 1;
    __builtin_memcpy(turn, &next, sizeof next);
  }
  float* sums = s.state + now * s.turn_pitch;
  float const *x = s.x, *weight = s.weight;
  [[maybe_unused]] float memory[has_fma ? 1 : most_flushed_once];
  if constexpr (!has_fma) x = flushed(x, s.groups * s.channels, memory);
  Index column = 0;
  for (Index group = 0; group < (one ? 1 : s.groups); ++group, x += s.channels) {
    if constexpr (single && most == 1 && !one) {
      mix_step(s, x, column);
      column += outputs;
      continue;
    }
    for (Index k = 0; one ? k == 0 : k < outputs; k += lanes, sums += (taps - 1) * lanes) {
      Vector sum[1][1];
      if constexpr (single) {
        sum[0][0] = push<most>(s, x, weight + column + k, sums, 0, true);
      } else {
        Index const parts = (taps + most - 1) / most;
        Index after = taps - most;
        sum[0][0] = push<most>(s, x, weight + column + k, sums, after, true);
        for (Index part = most * parts - taps + 1; part < parts; ++part)
          after -= most, push<most>(s, x, weight + column + k, sums, after, false);
        while (after > 0) after -= most - 1, push<most - 1>(s, x, weight + column + k, sums, after, false);
      }
      if (s.bias) sum[0][0] += load_row(s.bias + column + k, outputs - k);
      finish_step(s, sum, column + k);
    }
    column += outputs;
  }
}
/// The same, but not inlined.
template <int most, bool single, bool one, class Step>
void whole_convolve_step(void const* step) {
  convolve_step<most, single, one>(*static_cast<Step const*>(step));
}
/// The number of parts in which this many taps are summed.
constexpr Index tap_parts(Index taps) { return (taps + most_taps_at_once - 1) / most_taps_at_once; }
/// f(number of taps of a part, whether the part is all), as constants.
template <class F>
COLDPRESS_INLINE void with_part(Index taps, F f) {
  constexpr int most = most_taps_at_once;
  Index const parts = tap_parts(taps), each = (taps + parts - 1) / parts;
  for_constants<most>([&](auto i) COLDPRESS_INLINE_LAMBDA {
    if (each != i + 1) return;
    if (parts == 1) return f(Int<i + 1>{}, Int<1>{});
    if constexpr (2 * (i + 1) > most) f(Int<i + 1>{}, Int<0>{});
  });
}
template <Index taps, class F>
COLDPRESS_INLINE void with_part(Fixed<taps>, F f) {
  constexpr Index parts = tap_parts(taps);
  f(Int<(taps + parts - 1) / parts>{}, Int<parts == 1>{});
}
template <class Chain, class Join>
Kernel kernel_of(Fused<ConvolutionStep<Chain, Join>> const& s) {
  using Step = Fused<ConvolutionStep<Chain, Join>>;
  Kernel kernel = nullptr;
  with_part(s.taps, [&](auto most, auto single) {
    kernel = s.groups == 1 && s.outputs <= lanes ? whole_convolve_step<most, single, true, Step>
                                                 : whole_convolve_step<most, single, false, Step>;
  });
  return kernel;
}

/// All steps of a call, beginning with s. Where the compiler knows the geometry, everything is inlined.
template <class G, class X, class Step>
COLDPRESS_INLINE void convolve_stream(G const& g, X x, Step const& first) {
  constexpr bool known = requires { G::known; };
  std::conditional_t<known, Step, Fused<Step>> s{first};
  for (s.row = 0; s.row < x.rows; ++s.row, s.state += g.state()) {
    s.x = x.row(s.row);
    for (Index t = 0; t < g.height.in; ++t, s.x += g.channels) {
      s.column = t * g.outputs;
      if constexpr (requires { G::known; }) {
        with_part(Fixed<G::known.height.filter>{},
                  [&](auto most, auto single) COLDPRESS_INLINE_LAMBDA { convolve_step<most, single, false>(s); });
      } else {
        kernel_of(s)(&s);
      }
    }
  }
}

}  // namespace coldpress::cpu::inline COLDPRESS_ISA
