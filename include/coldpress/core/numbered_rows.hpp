// The gradient of a table whose rows were read by number, summed row by row and passed to a sink in parts.
#pragma once

// A minibatch reads few rows of a large table, so the gradient of all rows is not stored on a host: a part of it is
// made in the cache, and given to the sink at once. Where the sink skips zeros, only parts with rows that were read are
// made. Rows that are shorter than a line share lines, and finding those takes longer than summing a whole gradient.

#include <coldpress/core/each.hpp>
#include <coldpress/core/freestanding.hpp>
#include <coldpress/core/layer.hpp>
#include <coldpress/core/sums.hpp>

#include <cstdint>

namespace coldpress {

/// The number of elements of the lines that `count` elements are in.
constexpr Index whole_lines(Index count) { return (count + line_values - 1) / line_values * line_values; }

/// The places where each row of a table has its number in x, which has `x.columns` numbers per sample. A value that is
/// not the number of a row has no place. A place is counted over all samples.
template <class X, class T>
class NumberedRows {
 public:
  /// `first` has room for a value per row of the table, and `next` for one per number. They need not be initialised,
  /// and what follows takes time in proportion to the numbers.
  constexpr NumberedRows(X const& x, Index table_rows, T* first, T* next)
      : x_(x), table_rows_(table_rows), first_(first), next_(next) {
    Index place = places();
    for (Index n = x.rows; n-- > 0;) {
      for (Index t = x.columns; t-- > 0;) {
        --place;
        T const number = x.row(n)[t];
        if (!is_label(number, table_rows)) continue;
        auto const row = static_cast<Index>(number);
        // An entry that an earlier minibatch left names this place or an earlier one, if it names any: the row's later
        // places are already entered.
        Index const later = first_of(row);
        next_[place] = kept(later > place ? later : places());
        first_[row] = kept(place);
      }
    }
  }
  constexpr Index places() const { return x_.rows * x_.columns; }
  constexpr bool has(Index row) const { return first_of(row) < places(); }
  /// The row whose first place this is, or -1.
  constexpr Index begins(Index place) const {
    T const number = at(place);
    if (!is_label(number, table_rows_)) return -1;
    auto const row = static_cast<Index>(number);
    return first_of(row) == place ? row : -1;
  }
  /// Computes elements `begin` to `end` of the gradient of the table {table_rows, width}: that of a row is the sum, in
  /// their order, of the values of dy at its places. `to` has room for whole lines, which end with zeros.
  template <class DY>
  constexpr void sum(DY const& dy, Index width, Index begin, Index end, T* to) const {
    freestanding::fill_n(to, whole_lines(end - begin), T{});
    for (Index row = begin / width; row * width < end; ++row) {
      Index const start = row * width, from = freestanding::max(start, begin),
                  count = freestanding::min(start + width, end) - from;
      for (Index place = first_of(row); place < places(); place = number_of(next_[place])) {
        T const* const values = dy.row(place / x_.columns) + place % x_.columns * width + (from - start);
        T* const sums = to + (from - begin);
        for (Index e = 0; e < count; ++e) sums[e] += values[e];
      }
    }
  }
  /// f(begin, end) for the lines of the table, of line_values elements each, in which the row is the first that was
  /// read. A line is the least that may be updated by itself, and all calls together have each line once.
  template <class F>
  constexpr void for_lines(Index row, Index width, F f) const {
    Index const start = row * width, line = start / line_values;
    bool shared = false;
    for (Index other = line * line_values / width; other < row; ++other) shared = shared || has(other);
    Index const begin = (shared ? line + 1 : line) * line_values, end = whole_lines(start + width);
    if (begin < end) f(begin, freestanding::min(end, table_rows_ * width));
  }

 private:
  // A place is kept as the bits of a value, because values are not exact from 2^24 on.
  using Bits = std::conditional_t<sizeof(T) == sizeof(std::uint32_t), std::uint32_t, std::uint64_t>;
  static constexpr T kept(Index place) { return __builtin_bit_cast(T, static_cast<Bits>(place)); }
  static constexpr Index number_of(T place) { return static_cast<Index>(__builtin_bit_cast(Bits, place)); }
  constexpr T at(Index place) const { return x_.row(place / x_.columns)[place % x_.columns]; }
  /// The row's first place, or places() if it has none. first_ is not cleared between minibatches: an entry holds only
  /// if the place that it names has the row's number.
  constexpr Index first_of(Index row) const {
    Index const place = number_of(first_[row]);
    return place >= 0 && place < places() && at(place) == static_cast<T>(row) ? place : places();
  }
  X x_;
  Index table_rows_;
  T *first_, *next_;
};

/// How much scratch apply_numbered_rows needs.
template <class Backend>
constexpr Index numbered_rows_scratch(Index table_rows, Index width) {
  return many_threads<Backend> || width <= line_values ? whole_lines(table_rows * width) : table_rows;
}

/// Passes the gradient of a table {table_rows, width} to a sink: that of row r is the sum, in order, of the rows of dy
/// whose number in x is r. x has one number per `width` values of dy, and `next` has room for one value per number. A
/// value that is not the number of a row adds nothing. On a host this takes time in proportion to the numbers if they
/// are few and the sink skips zeros, and otherwise a pass over the table.
template <class Backend, class X, class DY, class T, class Sink>
constexpr void apply_numbered_rows(Backend const& backend, X const& x, DY const& dy, Index table_rows, Index width,
                                   T* next, Sink const& sink) {
  Index const all = table_rows * width;
  if constexpr (many_threads<Backend>) {
    // Among the places with the same number, the first one adds up the rows of all of them.
    Index const numbers = x.rows * x.columns;
    auto const at = [&](Index place) { return x.row(place / x.columns)[place % x.columns]; };
    T* const gradient = backend.scratch;
    backend.each(all, [&](Index e) { gradient[e] = 0; });
    each_part(backend, dy, x.columns * width, [&](Index n, Index e, Index) {
      Index const own = n * x.columns + e / width, f = e % width;
      T const number = at(own);
      if (!is_label(number, table_rows)) return;
      for (Index place = 0; place < own; ++place) {
        if (at(place) == number) return;
      }
      T sum{};
      for (Index place = own; place < numbers; ++place) {
        if (at(place) == number) sum += dy.row(place / x.columns)[place % x.columns * width + f];
      }
      gradient[static_cast<Index>(number) * width + f] = sum;
    });
    backend.apply_gradient(gradient, all, sink);
  } else {
    bool skips = false;
    if constexpr (requires { sink.skips_zeros(); }) skips = sink.skips_zeros();
    constexpr Index most = 512;  // elements per part; a multiple of a line
    auto const pass = [&](auto const& by, T const* sums, Index begin, Index count) {
      if constexpr (requires { sink.skips_zeros(); }) {
        if (skips) {
          alignas(alignment) T zeros[most];
          freestanding::fill_n(zeros, whole_lines(count), T{});
          return by.apply_gradient(sums, count, sink.skipping_at(begin, zeros));
        }
      }
      by.apply_gradient(sums, count, sink.at(begin));
    };
    auto const pass_parts = [&](auto const& sums_of) {
      each_range(backend, (all + most - 1) / most, Context::value_cost * most,
                 [&](Index first, Index last, auto const& by) {
                   for (Index begin = first * most; begin < freestanding::min(last * most, all); begin += most) {
                     alignas(alignment) T room[most];
                     Index const count = freestanding::min(most, all - begin);
                     pass(by, sums_of(begin, count, room), begin, count);
                   }
                 });
    };
    constexpr Index least = 4 * line_values;  // how many values of a pass take as long as finding the lines of a row
    bool const few = skips && x.rows * x.columns * freestanding::max(width, least) < all;
    if (width <= line_values && !few) {
      T* const gradient = backend.scratch;
      freestanding::fill_n(gradient, whole_lines(all), T{});
      for (Index n = 0; n < x.rows; ++n) {
        for (Index t = 0; t < x.columns; ++t) {
          T const number = x.row(n)[t];
          if (!is_label(number, table_rows)) continue;
          T* const sums = gradient + static_cast<Index>(number) * width;
          for (Index e = 0; e < width; ++e) sums[e] += dy.row(n)[t * width + e];
        }
      }
      return pass_parts([&](Index begin, Index, T*) { return gradient + begin; });
    }
    NumberedRows<X, T> const rows{x, table_rows, backend.scratch, next};
    auto const sums_of = [&](Index begin, Index count, T* room) {
      rows.sum(dy, width, begin, begin + count, room);
      return room;
    };
    if (!few) return pass_parts(sums_of);
    each_range(backend, rows.places(), Context::value_cost * width, [&](Index first, Index last, auto const& by) {
      for (Index place = first; place < last; ++place) {
        Index const row = rows.begins(place);
        if (row < 0) continue;
        rows.for_lines(row, width, [&](Index begin, Index end) {
          for (; begin < end; begin += most) {
            alignas(alignment) T room[most];
            Index const count = freestanding::min(most, end - begin);
            pass(by, sums_of(begin, count, room), begin, count);
          }
        });
      }
    });
  }
}

}  // namespace coldpress
