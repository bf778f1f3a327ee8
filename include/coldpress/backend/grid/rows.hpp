// Operations over whole rows, such as softmax and its gradient. One thread processes a short row, a warp a long one.
#pragma once

#include <coldpress/backend/grid/thread_group.hpp>
#include <coldpress/core/layer.hpp>
#include <coldpress/core/rows.hpp>

namespace coldpress::grid {

inline constexpr Index rows_at_once = threads / lanes;
/// Whether a row is processed by one thread.
constexpr bool is_short(ThreadGroup const& thread_group, Index columns) {
  return thread_group.alone || columns <= 2 * lanes;
}

/// An operation that goes over a row twice. first(row, first column, step) reduces some values of a row to a result,
/// join(a, b) combines two results, and then last(row, first column, step, result) does the rest.
template <class First, class Join, class Last>
struct Sweep {
  First first;
  Join join;
  Last last;
};
template <class First, class Join, class Last>
constexpr Sweep<First, Join, Last> sweep(First const& first, Join const& join, Last const& last) {
  return {first, join, last};
}

/// All sweeps of each row, one after another. A value is processed by the same thread in all of them.
template <class... Sweeps>
constexpr void each_row(ThreadGroup const& thread_group, Index rows, Index columns, Sweeps const&... sweeps) {
  if (is_short(thread_group, columns)) {
    thread_group.each(rows,
                      [&](Index i) { (sweeps.last(i, Index{0}, Index{1}, sweeps.first(i, Index{0}, Index{1})), ...); });
    return;
  }
  thread_group.each_block(parts(rows, rows_at_once), [&](Block const& block, Index number) {
    auto const row_of = [&](int t) { return number * rows_at_once + t / lanes; };
    auto const one = [&](auto const& s) {
      using Number = decltype(s.first(Index{}, Index{}, Index{}));
      static_assert(sizeof(Number) % sizeof(float) == 0);
      constexpr Index size = sizeof(Number) / sizeof(float);
      block.each([&](int t) {
        if (row_of(t) < rows) {
          Number const own = s.first(row_of(t), Index{t % lanes}, lanes);
          __builtin_memcpy(block.shared + t * size, &own, sizeof own);
        }
      });
      block.each([&](int t) {
        if (row_of(t) >= rows) return;
        Number all{};
        for (Index lane = 0; lane < lanes; ++lane) {
          Number next{};
          __builtin_memcpy(&next, block.shared + (t / lanes * lanes + lane) * size, sizeof next);
          all = lane == 0 ? next : s.join(all, next);
        }
        s.last(row_of(t), Index{t % lanes}, lanes, all);
      });
    };
    (one(sweeps), ...);
  });
}

/// The largest value of a part of a row, and the sum of e^(x - largest).
struct Mass {
  float top, sum;
};
struct JoinMass {
  constexpr Mass operator()(Mass a, Mass b) const {
    // A NaN is kept, because it is neither smaller nor larger.
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

/// y = softmax or log softmax of rows.
template <class X, class Y>
constexpr auto normalizing(Normalization kind, X x, Y y) {
  Index const columns = x.columns;
  return sweep([=](Index i, Index from, Index step) { return mass_of(x.row(i), columns, from, step); }, JoinMass{},
               [=](Index i, Index from, Index step, Mass mass) {
                 float const logarithm = Math<float>::log(mass.sum);
                 for (Index j = from; j < columns; j += step) {
                   float const distance = x.row(i)[j] - mass.top;
                   y.row(i)[j] =
                       kind == Normalization::softmax ? Math<float>::exp(distance) / mass.sum : distance - logarithm;
                 }
               });
}
/// dx from dy(row, column). Softmax: dx = y (dy - Σ y dy). Log softmax: dx = dy - e^y Σ dy.
template <class Y, class DY, class DX>
constexpr auto normalizing_back(Normalization kind, Y y, DY const& dy, DX dx) {
  bool const logarithmic = kind == Normalization::log_softmax;
  Index const columns = y.columns;
  return sweep(
      [=](Index i, Index from, Index step) {
        float sum = 0;
        for (Index j = from; j < columns; j += step)
          sum = Math<float>::fma(logarithmic ? 1.0f : y.row(i)[j], dy(i, j), sum);
        return sum;
      },
      Add{},
      [=](Index i, Index from, Index step, float sum) {
        for (Index j = from; j < columns; j += step) {
          float const v = y.row(i)[j], g = dy(i, j);
          dx.row(i)[j] = logarithmic ? Math<float>::fma(-Math<float>::exp(v), sum, g) : v * (g - sum);
        }
      });
}

}  // namespace coldpress::grid
