// Loops over ranges, samples and parts of samples, run in parallel where the backend has threads.
#pragma once

// Layers that are written as plain loops use them.

#include <coldpress/core/executor.hpp>

namespace coldpress {

/// Calls f(first, last, backend) for ranges that together cover [0, count). `backend` is the worker's own copy, with
/// its own scratch. No two ranges may write the same memory. `cost` is the cost of one index, in multiply-adds.
template <class Backend, class Count, class Cost, class F>
constexpr void each_range(Backend const& backend, Count count, Cost cost, F const& f) {
  if constexpr (requires { backend.each_range(count, f); }) {
    backend.each_range(count, f);
  } else if constexpr (std::is_base_of_v<Context, Backend>) {
    backend.each(count, cost, [&](Index first, Index last, int worker) {
      Backend own = backend;
      own.executor = nullptr, own.scratch = backend.scratch_of(worker);
      f(first, last, own);
    });
  } else {
    f(Index{0}, Index{count}, backend);
  }
}
/// Calls f(sample) or f(sample, backend) for each sample of x. A layer that needs scratch for each sample must ask for
/// it once for each of Extent::workers. `cost` is the cost of one sample, in multiply-adds; by default, that of reading
/// and writing its values.
template <class Backend, class X, class Cost, class F>
constexpr void each_sample(Backend const& backend, X const& x, Cost cost, F const& f) {
  each_range(backend, x.rows, cost, [&](Index first, Index last, Backend const& by) {
    for (Index i = first; i < last; ++i) {
      if constexpr (std::is_invocable_v<F const&, Index>) {
        f(i);
      } else {
        f(i, by);
      }
    }
  });
}
template <class Backend, class X, class F>
constexpr void each_sample(Backend const& backend, X const& x, F const& f) {
  each_sample(backend, x, product_of(x.columns, Fixed<Context::value_cost>{}), f);
}

/// Whether a backend has one thread per value and sums with whole thread blocks (each_sum), as a GPU does.
template <class Backend>
constexpr bool many_threads = requires {
  requires std::remove_cvref_t<Backend>::many_threads;
};

/// Calls f(sample, first, last) or f(sample, first, last, backend) for ranges that together cover [0, count) of each
/// sample of x. On a CPU the range is the whole sample, and first is Fixed<0>; with many threads, each index is a range
/// of its own. Several functions run one after the other: the second may read everything that the first has written for
/// the sample.
template <class Backend, class X, class Cost, class... F>
requires std::is_convertible_v<Cost, Index>
constexpr void each_part(Backend const& backend, X const& x, Index count, Cost cost, F const&... f) {
  if constexpr (many_threads<Backend>) {
    backend.each_part(x.rows, count, f...);
  } else {
    each_sample(backend, x, cost, [&](Index n, Backend const& by) {
      auto const all = [&](auto const& one) {
        if constexpr (std::is_invocable_v<decltype(one), Index, Fixed<0>, Index>) {
          one(n, Fixed<0>{}, count);
        } else {
          one(n, Fixed<0>{}, count, by);
        }
      };
      (all(f), ...);
    });
  }
}
template <class Backend, class X, class... F>
constexpr void each_part(Backend const& backend, X const& x, Index count, F const&... f) {
  each_part(backend, x, count, product_of(x.columns, Fixed<Context::value_cost>{}), f...);
}

}  // namespace coldpress
