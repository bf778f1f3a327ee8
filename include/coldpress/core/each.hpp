// Ranges, samples and parts of them, several at a time where the backend has threads: what layers of plain loops go
// through.
#pragma once

#include <coldpress/core/executor.hpp>

namespace coldpress {

/// f(first, last, backend) for ranges that together are [0, count); the backend is that of who does it, with scratch of
/// its own. Nothing that a range writes belongs to another. `cost`: of one number in it, in multiply-adds.
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
/// f(sample), or f(sample, backend), for each sample of x. A layer whose samples need scratch asks for as much for each
/// of Extent::workers. `cost`: of a sample; by default that of reading and writing its values.
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

/// Whether a backend has a thread for every value, and sums by whole blocks of them (each_sum): a GPU.
template <class Backend>
constexpr bool many_threads = requires {
  requires std::remove_cvref_t<Backend>::many_threads;
};

/// f(sample, first, last), or f(sample, first, last, backend), for ranges that together are the [0, count) of each
/// sample of x: all of it at once, where first is Fixed<0>, or with many threads each number by itself. Of several
/// functions one comes after the other: what the first has made of a sample the second may read, all of it.
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
