#pragma once

#include <coldpress/core/layer.hpp>

namespace coldpress {

/// Σ (y - t)² / N with N the batch, not the number of values; the gradient is 2 (y - t) (that of the sum).
struct MeanSquaredError {
  static constexpr std::string_view name = "mean_squared_error";

  constexpr Shape target_shape(Shape in) const { return in; }
  static constexpr Target target = Target::value;
  template <class T>
  __attribute__((always_inline)) constexpr T value(T y, T t) const {
    return (y - t) * (y - t);
  }
  template <class T>
  __attribute__((always_inline)) constexpr T gradient(T y, T t) const {
    return 2 * (y - t);
  }
  bool operator==(MeanSquaredError const&) const = default;
};

}  // namespace coldpress

BOOST_HANA_ADAPT_STRUCT(coldpress::MeanSquaredError);
