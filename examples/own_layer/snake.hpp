// A layer that coldpress does not have. This header is all that it needs.
#pragma once

#include <coldpress/core/layer.hpp>

struct SnakeOp {
  static constexpr bool needs_input = true;  // the gradient reads x
  static constexpr bool heavy = true;        // long code: epilogues loop instead of unrolling
  float frequency;

  template <class T>  // float, double, or a vector of floats
  __attribute__((always_inline)) T value(T x, coldpress::Position) const {
    T const t = coldpress::Math<T>::tanh(x * frequency);
    return x + t * t;
  }
  template <class T>
  __attribute__((always_inline)) T gradient(T x, T, coldpress::Position) const {
    T const t = coldpress::Math<T>::tanh(x * frequency);
    return 1 + 2 * frequency * t * (1 - t * t);
  }
};

/// y = x + tanh²(frequency x)
struct Snake {
  static constexpr std::string_view name = "snake";
  float frequency = 1;

  constexpr coldpress::Shape output_shape(coldpress::Shape in) const {
    coldpress::require(frequency > 0, "snake: frequency must be above 0");
    return in;
  }
  constexpr SnakeOp op(std::uint64_t) const { return {frequency}; }
  bool operator==(Snake const&) const = default;
};

COLDPRESS_FIELDS(Snake, frequency);  // the names of its fields, for configs and files
