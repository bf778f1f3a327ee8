// What goes into a static network and what comes out: samples in the memory of the user, or of a workspace.
#pragma once

#include <coldpress/core/shape.hpp>

#include <array>
#include <concepts>
#include <span>
#include <utility>

namespace coldpress {

/// Values of a minibatch, one sample after another. A view: it lives as long as the workspace it is in and until that
/// is used again.
template <class T>
struct Samples {
  std::span<T const> values = {};
  Index batch = 0;

  operator std::span<T const>() const { return values; }
  T operator[](Index i) const { return values[static_cast<std::size_t>(i)]; }
  std::span<T const> sample(Index i) const {
    auto const size = values.size() / static_cast<std::size_t>(batch);
    return values.subspan(static_cast<std::size_t>(i) * size, size);
  }
  std::size_t size() const { return values.size(); }
  T const* data() const { return values.data(); }
  auto begin() const { return values.begin(); }
  auto end() const { return values.end(); }
};

/// How an argument becomes a span of samples. Contiguous ranges do; coldpress/xtensor.hpp adds arrays and expressions.
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

/// The samples of one input; `k` tells it from others of its kind.
template <int k, class X, class T>
struct SamplesOfInput {
  SamplesOf<X, T> samples;
};
/// The samples of each input of a network. Arguments that must be evaluated live as long as this.
template <class T, class Numbers, class... X>
struct AllSamples;
template <class T, int... k, class... X>
struct AllSamples<T, std::integer_sequence<int, k...>, X...> : SamplesOfInput<k, X, T>... {
  explicit AllSamples(X const&... x) : SamplesOfInput<k, X, T>{SamplesOf<X, T>{x}}... {}
  static constexpr int count = sizeof...(X);
  std::array<std::span<T const>, sizeof...(X)> spans() const {
    return {this->SamplesOfInput<k, X, T>::samples.values...};
  }
  /// Whether all are in the user's memory.
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
/// Of inputs that are in memory already.
template <class T, std::size_t n>
struct SampleSpans {
  std::array<std::span<T const>, n> all;
  static constexpr int count = static_cast<int>(n);
  auto const& spans() const { return all; }
  static constexpr bool borrowed() { return true; }
};
template <class T, std::size_t n>
SampleSpans<T, n> all_samples(std::array<std::span<T const>, n> const& x) {
  return {x};
}
/// Of an argument for each input, or of a std::tuple of them.
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
