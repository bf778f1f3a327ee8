// Causal convolutions of sequences.
#pragma once

// For a whole sequence, the rows of the matrix product are steps, as if each step were a row of a dense layer. In a
// stream, each step is added to the future outputs that need it. Both sum in the same order.

#include <coldpress/backend/image_weight_gradient.hpp>
#include <coldpress/backend/panel.hpp>
#include <coldpress/backend/single_sample.hpp>

namespace coldpress::cpu::inline COLDPRESS_ISA {

/// The part of a minibatch that goes through one panel: steps [step, step + rows) of one sequence, or one step each of
/// as many single-step sequences as there are rows.
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

/// Writes panel[row][d] for d = (tap, c) of one group. `flushes` says whether small values become zero, as in a step of
/// a stream.
template <bool flushes>
COLDPRESS_INLINE void pack_steps(ConvolutionGeometry const& g, Steps const& steps, In x, Index group, float* panel,
                                 Index pitch) {
  Index const channels = g.group_channels();
  for (Index i = 0; i < steps.rows; ++i, panel += pitch) {
    Index const sample = steps.sample_of(i);
    float* to = panel;
    for (Index r = 0; r < g.height.filter; ++r, to += channels) {
      Index const t = g.height.at(steps.step_of(i), r);
      if (t >= 0) {
        float const* const from = x.row(sample) + t * g.channels + group * channels;
        if constexpr (flushes) {
          for (Index c = 0; c < channels; c += lanes)
            store(to + c, flush_small(load_row(from + c, channels - c), splat(smallest_factor)));
        } else {
          copy_over(to, from, channels);
        }
      } else {
        for (Index c = 0; c < channels; c += lanes) store(to + c, Vector{});
      }
    }
  }
}

/// The backward pass: adds to dx for all steps that a row has seen.
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

template <class = void>
void convolve_sequences(ConvolutionGeometry const& g, In x, float const* weight, float const* bias, Out y,
                        float* scratch) {
  PanelMemory const memory{g, scratch};
  Index const pitch = memory.panel.pitch(), outputs = g.group_outputs(), w_pitch = Layout::pitch(g.outputs);
  for_each_steps(g, memory.panel, x.rows, [&](Steps const& steps) {
    Out const to = steps.of(y, g.outputs);
    for (Index group = 0; group < g.groups; ++group) {
      pack_steps<!has_fma>(g, steps, x, group, memory.inputs, pitch);
      float const* b = bias;
      if (bias && group > 0) {  // whole vectors are read, which extend beyond the last group
        copy_over(memory.rest, bias + group * outputs, outputs);
        b = memory.rest;
      }
      Output<Chain<>> const epilogue{{}, b, to.data + group * outputs, to.pitch, outputs};
      float const* const w = weight + group * outputs;
      multiply(steps.rows, outputs, g.depth(), {memory.inputs, pitch, 1}, w, w_pitch, epilogue);
    }
  });
}

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
    unroll<count>([&](auto j) COLDPRESS_INLINE_LAMBDA { sum[j] = fma(value, load(weight + j * tap_pitch), sum[j]); });
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
  if (!s.total.y.data) return output.finish(sum, s.row, at);
  output.finish(sum, s.row, at, [&](int, int, Vector v) COLDPRESS_INLINE_LAMBDA {
    Vector const before = load_row(s.total.x.data + at, s.total.x.features - at);
    store_row(s.y + s.row * s.y_pitch + at, v, s.writable - at);
    store_row(s.total.y.data + at, before + v, s.total.y.features - at);
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

/// Whether it is a sequence, as a constant if the compiler knows.
template <class G>
constexpr auto is_sequence(G const& g) {
  if constexpr (requires { typename G::Sequence; }) {
    return typename G::Sequence{};
  } else {
    return g.sequence;
  }
}
/// All steps of a call, beginning with s. Where the compiler knows the geometry, everything is inlined.
template <class G, class X, class Step>
COLDPRESS_INLINE void convolve_stream(G const& g, X x, Step const& first) {
  std::conditional_t < requires { G::known; }
  , Step, Fused < Step >> s{first};
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
void sequence_weight_gradient(ConvolutionGeometry const& g, In x, In dy, float* gradient, float* biases,
                              float* scratch) {
  PanelMemory const memory{g, scratch};
  Index const pitch = memory.panel.pitch(), outputs = g.group_outputs(), other = memory.panel.output_pitch();
  for_each_steps(g, memory.panel, x.rows, [&](Steps const& steps) {
    In const from = steps.of(dy, g.outputs);
    for (Index group = 0; group < g.groups; ++group) {
      pack_steps<false>(g, steps, x, group, memory.inputs, pitch);
      for (Index i = 0; i < steps.rows; ++i)
        copy_over(memory.outputs + i * other, from.row(i) + group * outputs, outputs);
      multiply(g.depth(), outputs, steps.rows, {memory.inputs, 1, pitch}, memory.outputs, other,
               Added{gradient + group * outputs, Layout::pitch(g.outputs), outputs});
      if (biases)
        multiply(Index{1}, outputs, steps.rows, ones(), memory.outputs, other,
                 Added{biases + group * outputs, 0, outputs});
    }
  });
}

}  // namespace coldpress::cpu::inline COLDPRESS_ISA
