// Convolutions of sequences.
#pragma once

// For a whole sequence, the rows of the matrix product are steps, as if each step were a row of a dense layer. They are
// read where they are, or from a panel with zeros where a tap sees what is before the sequence or after it. In a
// stream, each step is added to the future outputs that need it. Both sum in the same order.

#include <coldpress/backend/blocked_rows.hpp>
#include <coldpress/backend/image_weight_gradient.hpp>
#include <coldpress/backend/panel.hpp>
#include <coldpress/backend/single_sample.hpp>

namespace coldpress::cpu::inline COLDPRESS_ISA {

/// The part of a minibatch that is computed at once: steps [step, step + rows) of one sequence, or one step each of as
/// many single-step sequences as there are rows.
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

/// f(part) for parts of up to `most` of the `steps` steps of each sequence.
template <class F>
COLDPRESS_INLINE void for_each_steps(Index steps, Index most, Index batch, F f) {
  bool const single = steps == 1;
  Index const samples = single ? 1 : batch, count = single ? batch : steps;
  for (Index sample = 0; sample < samples; ++sample) {
    for (Index step = 0; step < count; step += most) {
      Index const rows = freestanding::min(most, count - step);
      f(single ? Steps{step, 0, rows, true} : Steps{sample, step, rows, false});
    }
  }
}

/// Applies `rest`, PostOps or a Derivative, to the steps of y, which were stored without it, while they are in the
/// cache. A part begins with a whole vector.
template <class Y, class Rest>
COLDPRESS_INLINE void finish_steps(Y y, Rest const& rest, Steps const& steps, Index width) {
  if constexpr (!Rest::nothing) {
    if (steps.single) return finish(y, rest, steps.sample, steps.rows);
    if (rest.empty()) return;
    Index const first = steps.step * width, end = first + steps.rows * width;
    pass_row(y.row(steps.sample), end, pass_epilogue_of(y, rest), steps.sample, first);
  }
}

/// What the taps of a filter see of a sequence, as a matrix that is read where it is. Rows are `row` apart, and the
/// parts of a row that belong to two taps are `tap` apart; each has a value for each channel.
struct LeftTaps {
  float const* data;
  Index row, channels, tap;

  template <int h>
  struct Cursor {
    float const* at;
    Index row, left, channels, jump;
    COLDPRESS_INLINE float operator[](int i) const { return at[i * row]; }
    COLDPRESS_INLINE void next() {
      ++at;
      if (--left == 0) at += jump, left = channels;
    }
  };
  template <int h>
  COLDPRESS_INLINE Cursor<h> from(Index first) const {
    return {data + first * row, row, channels, channels, tap - channels};
  }
};

/// Writes panel[row][d] for d = (tap, c) of one group, where step_of(row, tap) is a step of x, or less than 0 for
/// zeros. `flushes` says whether small values become zero, as in a step of a stream.
template <bool flushes, class F>
COLDPRESS_INLINE void pack_steps(Steps const& steps, Index taps, In x, Index channels, Index of_group, Index group,
                                 float* panel, Index pitch, F step_of) {
  for (Index i = 0; i < steps.rows; ++i, panel += pitch) {
    float* to = panel;
    for (Index r = 0; r < taps; ++r, to += of_group) {
      Index const t = step_of(steps.step_of(i), r);
      if (t >= 0) {
        float const* const from = x.row(steps.sample_of(i)) + t * channels + group * of_group;
        if constexpr (flushes) {
          for (Index c = 0; c < of_group; c += lanes)
            store(to + c, flush_small(load_row(from + c, of_group - c), splat(smallest_factor)));
        } else {
          copy_over(to, from, of_group);
        }
      } else {
        for (Index c = 0; c < of_group; c += lanes) store(to + c, Vector{});
      }
    }
  }
}
/// The step of x that a tap sees at a step of y. It is less than 0 before the first and after the last.
COLDPRESS_INLINE auto seen(ConvolutionGeometry const& g) {
  return [&g](Index step, Index tap) COLDPRESS_INLINE_LAMBDA {
    Index const at = g.height.at(step, tap);
    return at < g.height.in ? at : -1;
  };
}
/// Whether all taps see steps of the sequence, at all of these steps of y.
COLDPRESS_INLINE bool sees_all(ConvolutionGeometry const& g, Steps const& steps) {
  Axis const& axis = g.height;
  return !steps.single && axis.at(steps.step, 0) >= 0 &&
         axis.at(steps.step + steps.rows - 1, axis.filter - 1) < axis.in;
}

/// y = post_ops(x * W + bias), where y and post_ops are those of the whole minibatch, from sample `first` on.
template <SequenceKernels kernels, class Y, class Chain, class Join>
void convolve_sequences(ConvolutionGeometry const& g, In x, float const* weight, float const* bias, Y y,
                        PostOps<Chain, float, Join> const& post_ops, Index first, float* scratch) {
  PanelMemory const memory{g, scratch};
  Axis const& steps_of = g.height;
  OneOf<kernels.outputs> const outputs{g.group_outputs()};
  Index const pitch = memory.panel.pitch(), channels = g.group_channels(), w_pitch = Layout::pitch(g.outputs),
              taps = steps_of.filter, depth = taps * channels,
              packed = depth * padded_size(outputs);  // floats of a group's weights
  bool const packs = memory.panel.packs_filters(x.rows * steps_of.out);
  float* const of_group = memory.rest + (packs ? g.groups * packed : 0);  // its biases
  for (Index group = 0; packs && group < g.groups; ++group)
    pack_panels(depth, outputs, weight + group * outputs, w_pitch, memory.rest + group * packed);
  for_each_steps(steps_of.out, memory.panel.rows, x.rows, [&](Steps const& part) {
    Steps const steps{part.sample + first, part.step, part.rows, part.single};
    Out const to = steps.of(Out{y.data, y.rows, y.columns, y.pitch}, g.outputs);
    for (Index group = 0; group < g.groups; ++group) {
      float const* b = bias;
      if (bias && group > 0) {  // whole vectors are read, which extend beyond the last group
        copy_over(of_group, bias + group * outputs, outputs);
        b = of_group;
      }
      Output<coldpress::Chain<>> const epilogue{{}, b, to.data + group * outputs, to.pitch, outputs};
      LeftTaps a{memory.inputs, pitch, depth, 0};  // a panel's row is one long tap
      if (has_fma && sees_all(g, part)) {
        float const* const from = x.row(part.sample) + steps_of.at(part.step, 0) * g.channels + group * channels;
        a = {from, steps_of.stride * g.channels, channels, steps_of.dilation * g.channels};
      } else {
        pack_steps<!has_fma>(part, taps, x, g.channels, channels, group, memory.inputs, pitch, seen(g));
      }
      OneOf<kernels.steps> const rows{steps.rows};
      if (packs) {
        multiply_packed(rows, outputs, depth, a, memory.rest + group * packed, epilogue);
      } else {
        cpu::multiply(rows, outputs, depth, a, Right{weight + group * outputs, w_pitch}, epilogue);
      }
    }
    finish_steps(y, post_ops, steps, g.outputs);
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

/// Stores sums, or adds them to what is there.
template <class Adds>
struct StepSums {
  float* to;
  Index pitch, columns;
  [[no_unique_address]] Adds adds;

  template <int h, int w>
  COLDPRESS_INLINE void finish(Vector (&sum)[h][w], Index row, Index column) const {
    either(
        adds,
        [&](auto...) COLDPRESS_INLINE_LAMBDA {
          Added{to, pitch, columns}.finish(sum, row, column);
        },
        [&](auto...) COLDPRESS_INLINE_LAMBDA {
          Output<coldpress::Chain<>>{{}, nullptr, to, pitch, columns}.finish(sum, row, column);
        });
  }
};

/// dx = derivative(the gradient with respect to x), where dx and the derivative are those of the whole minibatch, from
/// sample `first` on. It is the convolution of dy with the taps in reverse, at each step of x.
template <SequenceKernels kernels, class DX, class Chain, class Adds>
void sequence_input_gradient(ConvolutionGeometry const& g, In dy, float const* weight, DX dx,
                             Derivative<Chain, float, Adds> const& derivative, Index first, float* scratch) {
  PanelMemory const memory{g, scratch, true};
  Axis const& steps_of = g.height;
  OneOf<kernels.channels> const channels{g.group_channels()};
  Index const outputs = g.group_outputs(), taps = steps_of.filter, pitch = memory.panel.back_pitch(taps),
              depth = taps * outputs;
  auto const seen_by = [&](Index step, Index tap) COLDPRESS_INLINE_LAMBDA {
    Index const from = step + steps_of.padding - tap * steps_of.dilation, output = from / steps_of.stride;
    return from >= 0 && from % steps_of.stride == 0 && output < steps_of.out ? output : -1;
  };
  for (Index group = 0; group < g.groups; ++group) {
    for_each_panel(channels, [&](Index, Index column, Index width) {
      for (Index r = 0; r < taps; ++r) {
        transpose(freestanding::min(width, channels - column), outputs,
                  weight + (r * channels + column) * Layout::pitch(g.outputs) + group * outputs,
                  Layout::pitch(g.outputs), memory.rest + column * depth + r * outputs * width, width);
      }
    });
    for_each_steps(steps_of.in, Panel::steps_at_once(steps_of.in), dy.rows, [&](Steps const& part) {
      Steps const steps{part.sample + first, part.step, part.rows, part.single};
      Out const to = steps.of(Out{dx.data, dx.rows, dx.columns, dx.pitch}, g.channels);
      StepSums<Adds> const epilogue{to.data + group * channels, to.pitch, channels, derivative.adds};
      LeftTaps a{memory.inputs, pitch, depth, 0};                       // a panel's row is one long tap
      Index const last = part.step + part.rows - 1 + steps_of.padding,  // that the first tap sees
          first_seen = part.step + steps_of.padding - (taps - 1) * steps_of.dilation;
      if (!part.single && steps_of.stride == 1 && first_seen >= 0 && last < steps_of.out) {
        float const* const from = dy.row(part.sample) + (part.step + steps_of.padding) * g.outputs + group * outputs;
        a = {from, g.outputs, outputs, -steps_of.dilation * g.outputs};
      } else {
        pack_steps<false>(part, taps, dy, g.outputs, outputs, group, memory.inputs, pitch, seen_by);
      }
      multiply_packed(OneOf<kernels.gradient_steps>{steps.rows}, channels, depth, a, memory.rest, epilogue);
      if (group + 1 == g.groups) finish_steps(dx, derivative.adding(std::false_type{}), steps, g.channels);
    });
  }
}

/// Adds to `to` the products of one row with a matrix {depth, columns}: element k of the row is a[k * step]. Several
/// sums run side by side, since each would wait for its last term.
template <class F>
COLDPRESS_INLINE void add_row_product(Index columns, Index depth, F term, float const* matrix, Index pitch, float* to) {
  constexpr int chains = 4;
  for (Index c = 0; c < columns; c += lanes) {
    Vector sum[chains] = {};
    Index k = 0;
    for (; k + chains <= depth; k += chains) {
      COLDPRESS_UNROLL
      for (int i = 0; i < chains; ++i) sum[i] = term(sum[i], load(matrix + (k + i) * pitch + c), k + i);
    }
    for (; k < depth; ++k) sum[0] = term(sum[0], load(matrix + k * pitch + c), k);
    store_row(to + c, load_row(to + c, columns - c) + ((sum[0] + sum[1]) + (sum[2] + sum[3])), columns - c);
  }
}

/// Adds the gradients of W and of the biases. A part of dy is read where it is, unless whole vectors would extend
/// beyond the last row.
template <SequenceKernels kernels>
void sequence_weight_gradient(ConvolutionGeometry const& g, In x, In dy, float* gradient, float* biases,
                              float* scratch) {
  PanelMemory const memory{g, scratch};
  Axis const& steps_of = g.height;
  OneOf<kernels.outputs> const outputs{g.group_outputs()};
  Index const pitch = memory.panel.pitch(), channels = g.group_channels(), own = memory.panel.output_pitch(),
              to_pitch = Layout::pitch(g.outputs);
  auto const add = [&](Index rows, Index depth, Left a, Right<float> b, float* to) COLDPRESS_INLINE_LAMBDA {
    if (rows == 1) {
      add_row_product(
          outputs, depth,
          [&](Vector sum, Vector d, Index k)
              COLDPRESS_INLINE_LAMBDA { return fma(splat(a.data[k * a.depth]), d, sum); },
          b.data, b.pitch, to);
    } else {
      cpu::multiply(OneOf<kernels.terms>{rows}, outputs, depth, a, b, Added{to, to_pitch, outputs});
    }
  };
  for_each_steps(steps_of.out, memory.panel.rows, x.rows, [&](Steps const& steps) {
    In const rows = steps.of(dy, g.outputs);
    bool const last =
        steps.sample_of(steps.rows - 1) + 1 == dy.rows && (steps.single || steps.step + steps.rows == steps_of.out);
    for (Index group = 0; group < g.groups; ++group) {
      Right<float> from{rows.data + group * outputs, rows.pitch};
      if (last && outputs % lanes != 0) {
        for (Index i = 0; i < steps.rows; ++i) copy_over(memory.outputs + i * own, from.data + i * from.pitch, outputs);
        from = {memory.outputs, own};
      }
      float* const to = gradient + group * outputs;
      if (sees_all(g, steps)) {
        float const* seen_from = x.row(steps.sample) + steps_of.at(steps.step, 0) * g.channels + group * channels;
        for (Index r = 0; r < steps_of.filter; ++r, seen_from += steps_of.dilation * g.channels)
          add(channels, steps.rows, {seen_from, 1, steps_of.stride * g.channels}, from, to + r * channels * to_pitch);
      } else {
        pack_steps<false>(steps, steps_of.filter, x, g.channels, channels, group, memory.inputs, pitch, seen(g));
        add(g.terms(), steps.rows, {memory.inputs, 1, pitch}, from, to);
      }
      if (biases) {
        add_row_product(
            outputs, steps.rows, [](Vector sum, Vector d, Index) COLDPRESS_INLINE_LAMBDA { return sum + d; }, from.data,
            from.pitch, biases + group * outputs);
      }
    }
  });
}

}  // namespace coldpress::cpu::inline COLDPRESS_ISA
