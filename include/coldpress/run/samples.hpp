// The inputs and outputs of a static network: samples in the memory of the user or of a workspace.
#pragma once

#include <coldpress/core/shape.hpp>

#include <array>
#include <concepts>
#include <span>
#include <utility>

namespace coldpress {

/// The values of a minibatch, one sample after another. It is a view, valid as long as its workspace exists and until
/// that is used again.
template <class T>
struct Samples {
  std::span<T const> values = {};
  Index batch = 0;

  operator std::span<T const>() const { return values; }
  T operator[](Index i) const { return values[static_cast<std::size_t>(i)]; }
  std::span<T const> sample(Index i) const {
    if (batch == 0) return {};
    auto const size = values.size() / static_cast<std::size_t>(batch);
    return values.subspan(static_cast<std::size_t>(i) * size, size);
  }
  std::size_t size() const { return values.size(); }
  T const* data() const { return values.data(); }
  auto begin() const { return values.begin(); }
  auto end() const { return values.end(); }
};

namespace detail {
// Errors are thrown by separate functions that take the numbers by value, and by reference what is in memory. Without
// an error, which is the usual case, a step of a stream then costs one comparison, and nothing is stored or copied.
#if defined COLDPRESS_DECLARES_ONCE
[[noreturn]] __attribute__((cold)) void refuse_count(Index values, Index size, Shape const& shape, int input);
[[noreturn]] __attribute__((cold)) void refuse_values(char const* what, std::size_t values, Index expected,
                                                      Index samples, Shape const& shape);
[[noreturn]] __attribute__((cold)) void refuse_unequal(Index samples, int input, Index of_first);
[[noreturn]] __attribute__((cold)) void refuse_other_batch(Index batch, Index const& under_way);
#else
[[noreturn]] COLDPRESS_ONCE void refuse_count(Index values, Index size, Shape const& shape, int input) {
  refuse("network: input ", input, " must be a whole number of samples, at least one: got ", values,
         " values, expected a multiple of ", size, ", which a sample of ", shape, " has");
}
[[noreturn]] COLDPRESS_ONCE void refuse_values(char const* what, std::size_t values, Index expected, Index samples,
                                               Shape const& shape) {
  refuse(what, ": got ", values, " values, expected ", expected, " (", samples,
         samples == 1 ? " sample of " : " samples of ", shape, ")");
}
[[noreturn]] COLDPRESS_ONCE void refuse_unequal(Index samples, int input, Index of_first) {
  refuse("network: all inputs must have equally many samples: input ", input, " has ", samples, ", input 0 has ",
         of_first);
}
[[noreturn]] COLDPRESS_ONCE void refuse_other_batch(Index batch, Index const& under_way) {
  refuse("step: got ", batch, " samples, while ", under_way,
         " sequences are under way; the batch may change only after reset");
}
#endif
}  // namespace detail

/// The number of samples in this many values of input `input`, where a sample of `shape` has `size` values. Throws
/// ShapeError unless it is a whole number and at least one.
__attribute__((always_inline)) inline Index count_samples(std::size_t values, Index size, Shape const& shape,
                                                          int input = 0) {
  auto const count = static_cast<Index>(values);
  if (count <= 0 || count % size != 0) detail::refuse_count(count, size, shape, input);
  return count / size;
}
namespace detail {
template <class Batch>
[[noreturn]] __attribute__((noinline, cold)) void refuse_batch(std::size_t values, Index size, Shape const& shape) {
  Batch::count(count_samples(values, size, shape));
  __builtin_unreachable();
}
}  // namespace detail
/// The same for the first input of a network, as its Batch counts samples. Where that is a constant, this is one
/// comparison.
template <class Batch>
__attribute__((always_inline)) inline typename Batch::Count count_batch(std::size_t values, Index size,
                                                                        Shape const& shape) {
  if constexpr (Batch::capacity > 0) {
    if (values != static_cast<std::size_t>(Batch::capacity * size)) detail::refuse_batch<Batch>(values, size, shape);
    return {};
  } else {
    return Batch::count(count_samples(values, size, shape));
  }
}
/// Throws ShapeError, whose sentence begins with `what`, unless these are the values of `samples` samples of `shape`.
inline void check_values(char const* what, std::size_t values, Index samples, Shape const& shape) {
  Index const expected = samples * shape.size();
  if (static_cast<Index>(values) != expected) detail::refuse_values(what, values, expected, samples, shape);
}
/// Throws ShapeError unless input `input` has as many samples as the first.
inline void check_equally_many(Index samples, int input, Index of_first) {
  if (samples != of_first) detail::refuse_unequal(samples, input, of_first);
}

/// Converts an argument to a span of samples. It accepts contiguous ranges; coldpress/xtensor.hpp adds arrays and
/// expressions.
template <class X, class T>
struct SamplesOf {
  std::span<T const> values;
  static_assert(
      requires(X const& x) {
        { std::data(x) } -> std::convertible_to<T const*>;
      },
      "network: samples must be contiguous numbers of the network's type (float); coldpress/xtensor.hpp takes xtensor "
      "expressions too");
  explicit SamplesOf(X const& x) : values(std::data(x), std::size(x)) {}
};

namespace detail {

/// The samples of one input. `k` makes it a different base class for each input.
template <int k, class X, class T>
struct SamplesOfInput {
  SamplesOf<X, T> samples;
};
/// The samples of each input of a network. Arguments that must be evaluated live as long as this object.
template <class T, class Numbers, class... X>
struct AllSamples;
template <class T, int... k, class... X>
struct AllSamples<T, std::integer_sequence<int, k...>, X...> : SamplesOfInput<k, X, T>... {
  explicit AllSamples(X const&... x) : SamplesOfInput<k, X, T>{SamplesOf<X, T>{x}}... {}
  static constexpr int count = sizeof...(X);
  /// `Given` is the type that passes of the network take.
  template <class Given = std::span<T const>>
  std::array<Given, sizeof...(X)> spans() const {
    return {Given{this->SamplesOfInput<k, X, T>::samples.values}...};
  }
  /// Whether all samples are in the user's memory.
  bool borrowed() const {
    auto const one = [](auto const& input) {
      if constexpr (requires { input.borrowed(); }) {
        return input.borrowed();
      } else {
        return true;
      }
    };
    return (one(this->SamplesOfInput<k, X, T>::samples) && ...);
  }
};
/// The samples of inputs that are already in memory.
template <class T, std::size_t n>
struct SampleSpans {
  std::array<std::span<T const>, n> all;
  static constexpr int count = static_cast<int>(n);
  template <class Given = std::span<T const>>
  std::array<Given, n> spans() const {
    std::array<Given, n> spans;
    for (std::size_t k = 0; k < n; ++k) spans[k] = all[k];
    return spans;
  }
  static constexpr bool borrowed() { return true; }
};
template <class T, std::size_t n>
SampleSpans<T, n> all_samples(std::array<std::span<T const>, n> const& x) {
  return {x};
}
/// The samples of one argument per input, or of a std::tuple of them.
template <class T, class... X>
auto all_samples(X const&... x) {
  return AllSamples<T, std::make_integer_sequence<int, sizeof...(X)>, X...>{x...};
}
template <class T, class... X>
auto all_samples(std::tuple<X...> const& x) {
  return [&]<std::size_t... k>(std::index_sequence<k...>) { return all_samples<T>(get<k>(x)...); }
  (std::index_sequence_for<X...>{});
}

}  // namespace detail

}  // namespace coldpress
