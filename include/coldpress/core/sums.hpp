// Sums over a minibatch, and loops over its channels.
#pragma once

// A backend with one thread per value (a GPU) computes them differently from one whose threads have ranges. Each
// function here has both forms, so layers need only one. No sum depends on the number of threads.

#include <coldpress/core/along.hpp>
#include <coldpress/core/each.hpp>
#include <coldpress/core/freestanding.hpp>
#include <coldpress/core/layer.hpp>

#include <array>
#include <utility>

namespace coldpress {

/// Neighbouring ranges must not write into the same cache line, which has this many values.
inline constexpr Index line_values = 16;

/// Computes to[q][j] = Σ of(n)(j)[q] over n = 0, ..., terms - 1 in this order, for j < count: the sums of the columns
/// of several matrices whose rows n are read together. of(n) is called once per range of columns.
template <class Backend, class T, std::size_t size, class Of>
constexpr void sum_columns(Backend const& backend, Index count, Index terms, std::array<T*, size> to, Of of) {
  if constexpr (many_threads<Backend>) {
    for (std::size_t q = 0; q < size; ++q) {
      backend.each_sum(
          count, terms, 32, [&](Index j, Index n) { return of(n)(j)[q]; }, [&](Index j, T sum) { to[q][j] = sum; });
    }
  } else {
    each_range(backend, (count + line_values - 1) / line_values, Context::value_cost * line_values * terms,
               [&](Index first, Index last, auto const&) {
                 Index const begin = first * line_values, end = freestanding::min(last * line_values, count);
                 for (T* const sums : to) {
                   for (Index j = begin; j < end; ++j) sums[j] = T{};
                 }
                 for (Index n = 0; n < terms; ++n) {
                   auto const row = of(n);
                   for (Index j = begin; j < end; ++j) {
                     std::array<T, size> const values = row(j);
                     for (std::size_t q = 0; q < size; ++q) to[q][j] += values[q];
                   }
                 }
               });
  }
}

/// Computes to[c] = Σ of(c)(i, j) over all samples i < rows and the values j of channel c, and then calls finish(c).
/// The axis has the channels. Unless the values of a channel are apart from each other, the sum has sixteen partial
/// sums.
template <class Backend, class T, class Of, class Finish>
constexpr void sum_channels(Backend const& backend, Index rows, Along const& axis, T* to, Of of, Finish finish) {
  Index const channels = axis.extent, inner = axis.inner, size = axis.extent * inner;
  if constexpr (many_threads<Backend>) {
    Index const positions = axis.outer * inner;
    backend.each_sum(
        channels, rows * positions, inner == 1 ? 32 : 1,
        [&](Index c, Index n) {
          Index const place = n % positions;
          return of(c)(n / positions, place / inner * size + c * inner + place % inner);
        },
        [&](Index c, T total) {
          to[c] = total;
          finish(c);
        });
  } else {
    Index const at_once = inner == 1 ? line_values : 1;
    each_range(backend, (channels + at_once - 1) / at_once, Context::value_cost * at_once * axis.lines() * rows,
               [&](Index first, Index last, auto const&) {
                 Index const begin = first * at_once, stop = freestanding::min(last * at_once, channels);
                 if (inner == 1) {
                   for (Index c = begin; c < stop; ++c) to[c] = 0;
                   for (Index i = 0; i < rows; ++i) {
                     for (Index o = 0; o < axis.outer; ++o) {
                       for (Index c = begin; c < stop; ++c) to[c] += of(c)(i, o * size + c);
                     }
                   }
                   for (Index c = begin; c < stop; ++c) finish(c);
                   return;
                 }
                 for (Index c = begin; c < stop; ++c) {
                   auto const f = of(c);
                   T parts[16] = {}, total{};
                   for (Index i = 0; i < rows; ++i) {
                     for (Index o = 0; o < axis.outer; ++o) {
                       Index j = o * size + c * inner;
                       Index const end = j + inner;
                       for (; j + 16 <= end; j += 16) {
                         for (Index k = 0; k < 16; ++k) parts[k] += f(i, j + k);
                       }
                       for (Index k = 0; j < end; ++j, ++k) parts[k] += f(i, j);
                     }
                   }
                   for (T const part : parts) total += part;
                   to[c] = total;
                   finish(c);
                 }
               });
  }
}

/// Calls f(i, j, numbers...) for value j of each sample i of x. The numbers are those of the value's channel c, the
/// array that of_channel(c) returns. The axis has the channels.
template <class Backend, class X, class Of, class F>
constexpr void each_channel_value(Backend const& backend, X const& x, Along const& axis, Of of_channel, F f) {
  using Numbers = decltype(of_channel(0));
  constexpr int count = std::tuple_size_v<Numbers>;
  constexpr Index block = 64;  // channels per block
  Index const inner = axis.inner, size = axis.extent * inner;
  [&]<int... n>(std::integer_sequence<int, n...>) {
    if constexpr (many_threads<Backend>) {
      each_part(backend, x, axis.outer * size, [&](Index i, Index j, Index) {
        Numbers const own = of_channel(axis.place(j));
        f(i, j, own[n]...);
      });
    } else {
      typename Numbers::value_type numbers[count][block];
      for (Index first = 0; first < axis.extent; first += block) {
        Index const width = freestanding::min(block, axis.extent - first);
        for (Index k = 0; k < width; ++k) {
          Numbers const own = of_channel(first + k);
          ((numbers[n][k] = own[n]), ...);
        }
        each_sample(backend, x, Context::value_cost * width * axis.lines(), [&](Index i) {
          for (Index o = 0; o < axis.outer; ++o) {
            Index const start = o * size + first * inner;
            if (inner == 1) {
              for (Index k = 0; k < width; ++k) f(i, start + k, numbers[n][k]...);
              continue;
            }
            for (Index k = 0; k < width; ++k) {
              Index const end = start + (k + 1) * inner;
              for (Index j = end - inner; j < end; ++j) f(i, j, numbers[n][k]...);
            }
          }
        });
      }
    }
  }
  (std::make_integer_sequence<int, count>{});
}

}  // namespace coldpress
