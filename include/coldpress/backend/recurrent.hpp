// Recurrent layers on the CPU.
#pragma once

// The matrix products and gates of a step are one kernel, whose lanes are units.

#include <coldpress/backend/epilogue.hpp>
#include <coldpress/backend/single_sample.hpp>

namespace coldpress::cpu::inline COLDPRESS_ISA {

/// What the units of a part compute in a step. A GRU that multiplies h by its reset gate before the product does so in
/// two passes over its units, since no n is known before r∘h of all units: the first one is for r and z.
enum class Cell { plain, lstm, gru, reset_before, reset_before_gates, reset_before_value };

constexpr Cell cell_of(RnnType type, bool reset_after) {
  return type == RnnType::lstm              ? Cell::lstm
         : type != RnnType::gru             ? Cell::plain
         : resets_before(type, reset_after) ? Cell::reset_before
                                            : Cell::gru;
}

/// The sums of a unit: one per gate, but two for the new value of a GRU, whose recurrent part is first multiplied by r.
/// The terms of x are added to the first sums, the terms of h to the last.
template <Cell cell>
struct Sums {
  static constexpr int gates = cell == Cell::lstm                                ? 4
                               : cell == Cell::gru || cell == Cell::reset_before ? 3
                               : cell == Cell::reset_before_gates                ? 2
                                                                                 : 1;
  static constexpr int count = gates == 3 ? 4 : gates, recurrent = count - gates;
  /// The first of these gates in the rows for x, and in those for h (Layout::recurrent_offset).
  static constexpr int of_x = cell == Cell::reset_before_gates, of_h = cell == Cell::reset_before_value ? 2 : 0;
};

/// Calls f(cell) for each pass over the units.
template <Cell cell, class F>
COLDPRESS_INLINE void each_pass(F f) {
  if constexpr (cell == Cell::reset_before) {
    f(std::integral_constant<Cell, Cell::reset_before_gates>{});
    f(std::integral_constant<Cell, Cell::reset_before_value>{});
  } else {
    f(std::integral_constant<Cell, cell>{});
  }
}

/// In inference every sum begins with 2^-56, which is too small to change a sum that matters, but keeps values after
/// silence from becoming denormal numbers, with which processors take longer. In training and in ReLU units sums begin
/// with 0, because there the difference from zero could change a derivative or a result.
inline constexpr float smallest_sum = 0x1p-56f;

/// Without fused multiply-add, inference takes values of x and outputs of ReLU units that are smaller than this as
/// zero. Other outputs do not become that small, because their sums begin with a larger value.
template <class V>
COLDPRESS_INLINE V smallest_factor_of(RecurrentStep const& s) {
  return splat<V>(s.keeps ? 0.f : smallest_factor);
}

/// Gates and output of one vector of units. `fast`: with the faster sigmoid and tanh.
template <Cell cell, bool fast, class V, int count>
COLDPRESS_INLINE void activate(RecurrentStep const& s, Index row, Index column, V (&z)[count]) {
  Index const left = s.writable - column;
  float* const kept = s.kept + row * s.kept_pitch + column;
  auto const keep = [&](auto slot, V v) COLDPRESS_INLINE_LAMBDA { store(kept + slot * s.units, v); };
  V y;
  if constexpr (cell == Cell::lstm) {
    V const before = s.cell ? load<V>(s.cell + row * s.cell_pitch + column) : V{};
    V const i = in_register(sigmoid<fast>(z[0])), f = in_register(sigmoid<fast>(z[1])),
            g = in_register(tanh<fast>(z[2]));
    V const o = in_register(sigmoid<fast>(z[3]));
    V const c = fma(i, g, f * before), t = tanh<fast>(c);
    y = o * t;
    store(s.next_cell + row * s.next_cell_pitch + column, c);
    if (s.keeps) keep(Int<0>{}, i), keep(Int<1>{}, f), keep(Int<2>{}, g), keep(Int<3>{}, o), keep(Int<5>{}, t);
  } else if constexpr (cell == Cell::reset_before_gates) {
    V const before = s.h ? load_row<V>(s.h + row * s.h_pitch + column, left) : V{};
    V const r = in_register(sigmoid<fast>(z[0])), u = in_register(sigmoid<fast>(z[1]));
    if (s.keeps) keep(Int<1>{}, r);
    keep(Int<2>{}, u), keep(Int<3>{}, r * before);
    return;
  } else if constexpr (cell == Cell::reset_before_value) {
    V const before = s.h ? load_row<V>(s.h + row * s.h_pitch + column, left) : V{};
    V const n = tanh<fast>(z[0]);
    y = fma(load<V>(kept + 2 * s.units), before - n, n);
    if (s.keeps) keep(Int<0>{}, n);
  } else if constexpr (cell == Cell::gru) {
    V const before = s.h ? load_row<V>(s.h + row * s.h_pitch + column, left) : V{};
    V const r = in_register(sigmoid<fast>(z[1])), u = in_register(sigmoid<fast>(z[2])),
            n = tanh<fast>(fma(r, z[3], z[0]));
    y = fma(u, before - n, n);
    if (s.keeps) keep(Int<0>{}, n), keep(Int<1>{}, r), keep(Int<2>{}, u), keep(Int<3>{}, z[3]);
  } else {
    y = s.type == RnnType::relu ? (z[0] < 0.f ? V{} : z[0]) : tanh<fast>(z[0]);
    if constexpr (!has_fma) {
      if (s.type == RnnType::relu) y = flush_small(y, smallest_factor_of<V>(s));
    }
  }
  store_row(s.y + row * s.y_pitch + column, y, left);
  if (s.carried && s.hidden <= lanes_of<V>) store(s.carried + row * s.carried_pitch + column, y);
}

/// The sums of one vector of units of h samples. Each is b_W + b_R, then the terms of x, then those of h. There are
/// `parts` partial sums (of the terms k = p, p + parts, ...), which are added at the end.
template <Cell cell, int parts, int h, int count, class V>
COLDPRESS_INLINE void sum_gates(RecurrentStep const& s, Index row, Index column, V (&done)[h][count]) {
  using Sums = cpu::Sums<cell>;
  constexpr int gates = Sums::gates, recurrent = Sums::recurrent;
  V const smallest = splat<V>(s.keeps || (cell == Cell::plain && s.type == RnnType::relu) ? 0.f : smallest_sum);
  V sum[parts][h][count];
  for_constants<parts * h * count>(
      [&](auto n) COLDPRESS_INLINE_LAMBDA { sum[n / (h * count)][n / count % h][n % count] = smallest; });
  float const* const matrix = s.matrix + column;
  auto const weight = [&](float const* at, auto q) COLDPRESS_INLINE_LAMBDA { return load<V>(at + q * s.units); };
  {
    float const* const bias = matrix + (s.inputs + s.hidden) * s.pitch;
    V b[count];
    for_constants<count>([&](auto q) COLDPRESS_INLINE_LAMBDA { b[q] = smallest; });
    for_constants<gates>([&](auto q) COLDPRESS_INLINE_LAMBDA { b[q] += weight(bias + Sums::of_x * s.units, q); });
    for_constants<gates>(
        [&](auto q) COLDPRESS_INLINE_LAMBDA { b[recurrent + q] += weight(bias + s.pitch + Sums::of_h * s.units, q); });
    for_constants<h * count>([&](auto n) COLDPRESS_INLINE_LAMBDA { sum[0][n / count][n % count] = b[n % count]; });
  }
  // `flushes` says whether small values of `left` are taken as zero.
  auto const add = [&](float const* left, Index left_pitch, Index depth, float const* b, auto first,
                       auto flushes) COLDPRESS_INLINE_LAMBDA {
    left += row * left_pitch;
    auto const term = [&](auto p) COLDPRESS_INLINE_LAMBDA {
      V right[gates];
      for_constants<gates>([&](auto q) COLDPRESS_INLINE_LAMBDA { right[q] = weight(b + p * s.pitch, q); });
      for_constants<h>([&](auto i) COLDPRESS_INLINE_LAMBDA {
        V x = splat<V>(left[i * left_pitch + p]);
        if constexpr (flushes) x = flush_small(x, smallest_factor_of<V>(s));
        for_constants<gates>(
            [&](auto q) COLDPRESS_INLINE_LAMBDA { sum[p][i][first + q] = fma(x, right[q], sum[p][i][first + q]); });
      });
    };
    Index const rest = depth % parts;
    for (float const* const end = left + (depth - rest); left != end; b += parts * s.pitch, left += parts) {
      asm("" : "+r"(left));  // prevents unrolling, after which g++ reorders the loop and spills registers
      for_constants<parts>(term);
    }
    for_constants<parts - 1>([&](auto p) COLDPRESS_INLINE_LAMBDA {
      if (p < rest) term(p);
    });
  };
  if (s.inputs > 0) {
    add(s.x, s.x_pitch, s.inputs, matrix + Sums::of_x * s.units, Int<0>{}, Int<!has_fma>{});
  } else {
    for_constants<h>([&](auto i) COLDPRESS_INLINE_LAMBDA {
      V const x = load_row<V>(s.x + (row + i) * s.x_pitch + column, s.hidden - column);
      for_constants<gates>([&](auto q) COLDPRESS_INLINE_LAMBDA { sum[0][i][q] += x; });
    });
  }
  if (s.h) {
    bool constexpr is_reset = cell == Cell::reset_before_value;
    add(is_reset ? s.kept + 3 * s.units : s.h, is_reset ? s.kept_pitch : s.h_pitch, s.hidden,
        matrix + s.inputs * s.pitch + Sums::of_h * s.units, Int<recurrent>{}, Int<0>{});
  }

  for_constants<h * count>([&](auto n) COLDPRESS_INLINE_LAMBDA {
    constexpr int i = n / count, q = n % count;
    done[i][q] = sum[0][i][q];
    for_constants<parts - 1>([&](auto p) COLDPRESS_INLINE_LAMBDA { done[i][q] += sum[p + 1][i][q]; });
  });
}
/// Computes one vector of units of h samples.
template <Cell cell, bool fast, int h, int parts, class V>
COLDPRESS_INLINE void recurrent_block(RecurrentStep const& s, Index row, Index column) {
  V done[h][Sums<cell>::count];
  sum_gates<cell, parts>(s, row, column, done);
  for (int i = 0; i < h; ++i) activate<cell, fast>(s, row + i, column, done[i]);
}
/// The same, but not inlined, so that one copy serves every shape.
template <Cell cell, bool fast, int h, int parts>
__attribute__((noinline)) void recurrent_tile(RecurrentStep const& step, Index row, Index column) {
  RecurrentStep const s = step;  // stores cannot change a copy
  recurrent_block<cell, fast, h, parts, Vector>(s, row, column);
}

/// Copies the new h of `samples` samples to where it is carried, if it is not there already.
COLDPRESS_INLINE void carry(RecurrentStep const& s, Index samples) {
  if (!s.carried || s.hidden <= lanes) return;
  for (Index i = 0; i < samples; ++i) {
    float* const to = s.carried + i * s.carried_pitch;
    for (Index c = 0; c < s.hidden; c += lanes) store(to + c, load_row(s.y + i * s.y_pitch + c, s.writable - c));
  }
}
/// Writes zeros to the first `columns` values that the samples that have ended before a step have there.
inline void clear_over(Recurrence<float> const& r, Index step, Sequence<float> const& values, Index columns) {
  for (Index i = 0; i < r.x.samples; ++i) {
    if (r.over(step, i)) freestanding::fill_n(values.at(step, i), columns, 0.f);
  }
}
/// The same for h and `kept`, but that the initial state is there where it is passed on.
inline void end_over(Recurrence<float> const& r, Index step, Index writable) {
  clear_over(r, step, r.h, writable), clear_over(r, step, r.kept, r.kept.columns);
  for (Index i = 0; i < r.x.samples; ++i) {
    if (!r.over(step, i) || !r.passes_initial(i)) continue;
    freestanding::copy_n(r.h.at(r.step(-1), i), writable, r.h.at(step, i));
    if (r.type != RnnType::lstm) continue;
    freestanding::copy_n(r.kept.at(r.step(-1), i) + 4 * r.units(), r.units(), r.kept.at(step, i) + 4 * r.units());
  }
}
/// A step of one sample, summed in two chains. It is inlined because, where the compiler knows the shapes, a stream's
/// step consists of little else.
template <Cell cell, bool fast, class V>
COLDPRESS_INLINE void recurrent_step(RecurrentStep const& s) {
  each_pass<cell>([&](auto pass) COLDPRESS_INLINE_LAMBDA {
    for (Index column = 0; column < s.hidden; column += lanes_of<V>) recurrent_block<pass, fast, 1, 2, V>(s, 0, column);
  });
}
/// Whether the units fit into one narrow vector. Not if values are kept, because backward reads them in whole vectors.
COLDPRESS_INLINE bool is_narrow(RecurrentStep const& s) { return s.hidden <= lanes_of<Narrow> && !s.keeps; }
/// All steps of one part of the layer. `more`: whether samples may have numbers of steps, or initial states.
template <Cell cell, bool fast, bool more>
COLDPRESS_INLINE void recurrent(Recurrence<float> const& r, float const* weights) {
  constexpr int most = tile_rows * tile_columns / 4;
  RecurrentStep s = first_step(r, weights);
  if constexpr (more) {
    if (r.has_initial) s.take_initial(r);
  }
  for (Index n = 0; n < r.x.steps; ++n) {
    if (n > 0) s.take(r, n);
    if (r.x.samples > 1) {
      each_pass<cell>([&](auto pass) COLDPRESS_INLINE_LAMBDA {
        for (Index column = 0; column < s.hidden; column += lanes) {
          split<most>(r.x.samples, [&](Index row, auto h)
                                       COLDPRESS_INLINE_LAMBDA { recurrent_tile<pass, fast, h, 1>(s, row, column); });
        }
      });
    } else if (is_narrow(s)) {
      recurrent_step<cell, fast, Narrow>(s);
    } else {
      recurrent_step<cell, fast, Vector>(s);
    }
    if constexpr (more) {
      if (r.lengths) end_over(r, r.step(n), s.writable);
    }
  }
  carry(s, r.x.samples);
}

/// to = from, or to += from. For rows of one or two values, scalar copies are faster than a masked vector.
inline void copy(Sequence<float const> const& from, Sequence<float> const& to, bool add) {
  for (Index t = 0; t < from.steps; ++t) {
    for (Index i = 0; i < from.samples; ++i) {
      float const* const x = from.at(t, i);
      float* const y = to.at(t, i);
      if (from.columns > 2 && from.column_pitch == 1 && to.column_pitch == 1) {
        for (Index c = 0; c < from.columns; c += lanes) {
          Index const left = from.columns - c;
          Vector const v = load_row(x + c, left);
          store_row(y + c, add ? load_row(y + c, left) + v : v, left);
        }
      } else {
        for (Index c = 0; c < from.columns; ++c) {
          float& value = y[c * to.column_pitch];
          value = add ? value + x[c * from.column_pitch] : x[c * from.column_pitch];
        }
      }
    }
  }
}

/// What a recurrent layer computes, ...
template <class R>
constexpr auto cell_of(R const& r) {
  if constexpr (requires { R::Known::value; }) {
    return std::integral_constant<Cell, cell_of(R::Known::value.type, R::Known::value.reset_after)>{};
  } else {
    return cell_of(r.type, r.reset_after);
  }
}
constexpr bool is_reset_before(Cell cell) { return cell == Cell::reset_before; }
template <Cell cell>
constexpr auto is_reset_before(std::integral_constant<Cell, cell>) {
  return std::bool_constant<cell == Cell::reset_before>{};
}
template <class R>
constexpr bool knows_weights = requires {
  requires R::Known::value.weights.gates > 0;
};
/// ... its number of units, the number of its sums' gradients that belong to a matrix, ...
template <class R>
constexpr auto hidden_of(R const& r) {
  if constexpr (knows_weights<R>) {
    return Fixed<R::Known::value.weights.hidden>{};
  } else {
    return Index{r.weights.hidden};
  }
}
template <class R>
constexpr auto gate_columns(R const& r) {
  if constexpr (knows_weights<R>) {
    constexpr RecurrentWeights w = R::Known::value.weights;
    return Fixed<w.gates * Recurrence<float>::padded(w.hidden)>{};
  } else {
    return r.weights.gates * r.units();
  }
}
template <class R>
constexpr Index known_inputs() {
  if constexpr (knows_weights<R>) {
    constexpr RecurrentWeights w = R::Known::value.weights;
    return w.layers == 1 ? w.inputs(0) : 0;
  }
  return 0;
}
/// ... and the number of columns of the part's W_x, as constants if the compiler knows them.
template <class R>
constexpr auto inputs_of(R const& r) {
  if constexpr (known_inputs<R>() > 0) {
    return Fixed<known_inputs<R>()>{};
  } else {
    return r.weights.inputs(r.part);
  }
}
/// Calls f(the cell as a constant).
template <class F>
COLDPRESS_INLINE void with_cell(Cell cell, F f) {
  cell == Cell::lstm           ? f(std::integral_constant<Cell, Cell::lstm>{})
  : cell == Cell::gru          ? f(std::integral_constant<Cell, Cell::gru>{})
  : cell == Cell::reset_before ? f(std::integral_constant<Cell, Cell::reset_before>{})
                               : f(std::integral_constant<Cell, Cell::plain>{});
}
template <Cell cell, class F>
COLDPRESS_INLINE void with_cell(std::integral_constant<Cell, cell> known, F f) {
  f(known);
}

/// A sequence of a single step of one sample.
template <Cell cell, class V>
void whole_recurrent_step(void const* step) {
  auto const& s = *static_cast<RecurrentStep const*>(step);
  recurrent_step<cell, false, V>(s);
  carry(s, 1);
}
template <class = void>
Kernel kernel_of(RecurrentStep const& s) {
  Kernel kernel = nullptr;
  with_cell(cell_of(s), [&](auto cell) {
    kernel = is_narrow(s) ? whole_recurrent_step<cell, Narrow> : whole_recurrent_step<cell, Vector>;
  });
  return kernel;
}

}  // namespace coldpress::cpu::inline COLDPRESS_ISA
