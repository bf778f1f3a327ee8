// A loss of the user's own that does not say what its targets are.
#pragma once

#include <coldpress/coldpress.hpp>

struct PseudoHuber {
  static constexpr std::string_view name = "huber";
  float loss_weight = 1;
  constexpr coldpress::Shape target_shape(coldpress::Shape const& in) const { return in; }
  template <class T>
  constexpr T value(T y, T t) const {
    return (y - t) * (y - t);
  }
  template <class T>
  constexpr T gradient(T y, T t) const {
    return 2 * (y - t);
  }
  bool operator==(PseudoHuber const&) const = default;
};
