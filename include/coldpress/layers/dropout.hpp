// The layer Dropout: zeroes random values while training.
#pragma once

#include <coldpress/core/layer.hpp>
#include <coldpress/core/random.hpp>

namespace coldpress {

/// y = m x / (1 - p) in training, where m is 0 with probability p and 1 otherwise; y = x in inference. m depends on
/// key, step, sample and feature alone.
struct DropoutOp {
  static constexpr bool needs_input = false, heavy = true;
  std::uint64_t key;
  std::uint32_t threshold;  // a value is kept if its random word is at least this
  float scale;

  template <class T>
  __attribute__((always_inline)) constexpr T value(T x, Position at) const {
    return at.step == 0 ? x : x * mask<T>(at);
  }
  template <class T>
  __attribute__((always_inline)) constexpr T gradient(T, T, Position at) const {
    return at.step == 0 ? T{} + 1 : mask<T>(at);
  }
  template <class T>
  __attribute__((always_inline)) constexpr T mask(Position at) const {
    return Math<T>::random(key, at) < threshold ? T{} : T{} + scale;
  }
};

/// While training, zeroes each value with `probability` and scales the others by 1 / (1 - probability). Does nothing in
/// inference.
struct Dropout {
  static constexpr std::string_view name = "dropout";
  float probability = 0.75f;
  std::uint64_t seed = 42;

  template <class Needs = Require>
  constexpr Shape output_shape(Shape const& in, Needs require = {}) const {
    require(probability >= 0 && probability < 1, "dropout: probability must be at least 0 and below 1");
    return in;
  }
  constexpr DropoutOp op(std::uint64_t key) const {
    return {key, static_cast<std::uint32_t>(static_cast<double>(probability) * 0x1p32), 1 / (1 - probability)};
  }
  bool operator==(Dropout const&) const = default;
};

}  // namespace coldpress

COLDPRESS_FIELDS(coldpress::Dropout, probability, seed);
