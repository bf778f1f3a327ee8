// Softmax, its gradient and the like: what goes over whole rows. Short ones are a thread's, long ones a warp's.
#pragma once

#include <coldpress/backend/grid/team.hpp>
#include <coldpress/core/layer.hpp>
#include <coldpress/core/rows.hpp>

namespace coldpress::grid {

inline constexpr Index rows_at_once = threads / lanes;
/// Whether a row is one thread's.
constexpr bool is_short(Team const& team, Index columns) { return team.alone || columns <= 2 * lanes; }

/// What goes over rows in two sweeps: first(row, columns from, step) gives a number that the values of a row are
/// gathered in, join(a, b) of two of them; then(row, from, step, gathered) does the rest.
template <class First, class Join, class Last>
constexpr void each_row(Team const& team, Index rows, Index columns, First const& first, Join const& join,
                        Last const& last) {
  if (is_short(team, columns)) {
    team.each(rows, [&](Index i) { last(i, Index{0}, Index{1}, first(i, Index{0}, Index{1})); });
    return;
  }
  using Number = decltype(first(Index{}, Index{}, Index{}));
  static_assert(sizeof(Number) % sizeof(float) == 0);
  constexpr Index size = sizeof(Number) / sizeof(float);
  team.each_block(parts(rows, rows_at_once), [&](Block const& block, Index number) {
    auto const row_of = [&](int t) { return number * rows_at_once + t / lanes; };
    block.each([&](int t) {
      if (row_of(t) < rows) {
        Number const own = first(row_of(t), Index{t % lanes}, lanes);
        __builtin_memcpy(block.shared + t * size, &own, sizeof own);
      }
    });
    block.each([&](int t) {
      if (row_of(t) >= rows) return;
      Number all{};
      for (Index lane = 0; lane < lanes; ++lane) {
        Number one{};
        __builtin_memcpy(&one, block.shared + (t / lanes * lanes + lane) * size, sizeof one);
        all = lane == 0 ? one : join(all, one);
      }
      last(row_of(t), Index{t % lanes}, lanes, all);
    });
  });
}

/// The largest value of a part of a row, and the sum of e^(x - that).
struct Mass {
  float top, sum;
};
struct JoinMass {
  constexpr Mass operator()(Mass a, Mass b) const {
    // A NaN is kept: it is neither smaller nor larger.
    float const top = a.top > b.top || a.top != a.top ? a.top : b.top;
    auto const part = [top](Mass m) { return m.sum == 0 ? 0.0f : m.sum * Math<float>::exp(m.top - top); };
    return {top, part(a) + part(b)};
  }
};
template <class X>
constexpr Mass mass_of(X x, Index columns, Index from, Index step) {
  float top = -__builtin_inff(), sum = 0;
  for (Index j = from; j < columns; j += step) top = x[j] > top || x[j] != x[j] ? x[j] : top;
  for (Index j = from; j < columns; j += step) sum += Math<float>::exp(x[j] - top);
  return {top, sum};
}
struct Add {
  constexpr float operator()(float a, float b) const { return a + b; }
};

template <class X, class Y>
constexpr void normalize(Team const& team, Normalization kind, X x, Y y) {
  Index const columns = x.columns;
  each_row(
      team, x.rows, columns, [&](Index i, Index from, Index step) { return mass_of(x.row(i), columns, from, step); },
      JoinMass{},
      [&](Index i, Index from, Index step, Mass mass) {
        float const logarithm = Math<float>::log(mass.sum);
        for (Index j = from; j < columns; j += step) {
          float const distance = x.row(i)[j] - mass.top;
          y.row(i)[j] = kind == Normalization::softmax ? Math<float>::exp(distance) / mass.sum : distance - logarithm;
        }
      });
}

/// Softmax: dx = y (dy - Σ y dy). Log softmax: dx = dy - e^y Σ dy.
template <class Y, class DY, class DX>
constexpr void normalize_gradient(Team const& team, Normalization kind, Y y, DY dy, DX dx) {
  bool const logarithmic = kind == Normalization::log_softmax;
  Index const columns = y.columns;
  each_row(
      team, y.rows, columns,
      [&](Index i, Index from, Index step) {
        float sum = 0;
        for (Index j = from; j < columns; j += step)
          sum = Math<float>::fma(logarithmic ? 1.0f : y.row(i)[j], dy.row(i)[j], sum);
        return sum;
      },
      Add{},
      [&](Index i, Index from, Index step, float sum) {
        for (Index j = from; j < columns; j += step) {
          float const v = y.row(i)[j], g = dy.row(i)[j];
          dx.row(i)[j] = logarithmic ? Math<float>::fma(-Math<float>::exp(v), sum, g) : v * (g - sum);
        }
      });
}

}  // namespace coldpress::grid
