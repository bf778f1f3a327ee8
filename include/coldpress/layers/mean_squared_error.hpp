// The loss MeanSquaredError.
#pragma once

#include <coldpress/core/layer.hpp>

#include <array>

namespace coldpress {

/// What the mean of a minibatch's losses is taken over: its samples, each with the sum over its values, or all of their
/// values.
enum class Average { samples, values };
constexpr auto spellings(Average) { return std::array<std::string_view, 2>{"samples", "values"}; }

/// Σ (y - t)² / N, where N is the number of samples in the batch, as in Juice. The gradient is that of the sum, 2 (y -
/// t). With Average::values, both are also divided by the number of values per sample, which gives the mean over all
/// values.
struct MeanSquaredError {
  static constexpr std::string_view name = "mean_squared_error";
  static constexpr std::string_view mean_over =
      "samples, each with the sum over its values; or values, see `loss_average`";
  float loss_weight = 1;  // a factor of the value and the gradient
  Average loss_average = Average::samples;

  constexpr Shape target_shape(Shape const& in) const {
    check_loss_weight(loss_weight);
    return in;
  }
  /// The loss's weight for values of a shape.
  constexpr float weight_for(Shape const& in) const {
    return loss_average == Average::values ? loss_weight / static_cast<float>(in.size()) : loss_weight;
  }
  static constexpr Target target = Target::value;
  template <class T>
  __attribute__((always_inline)) constexpr T value(T y, T t) const {
    return (y - t) * (y - t) * loss_weight;
  }
  template <class T>
  __attribute__((always_inline)) constexpr T gradient(T y, T t) const {
    return 2 * (y - t) * loss_weight;
  }
  bool operator==(MeanSquaredError const&) const = default;
};

}  // namespace coldpress

COLDPRESS_FIELDS(coldpress::MeanSquaredError, loss_weight, loss_average);
