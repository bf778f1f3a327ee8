// The layer Softmax of a whole sample.
#pragma once

#include <coldpress/core/layer.hpp>

namespace coldpress {

/// y = e^x / Σ e^x over all values of a sample; dx = y (dy - Σ y dy).
struct Softmax {
  static constexpr std::string_view name = "softmax";
  static constexpr Normalization normalization = Normalization::softmax;

  constexpr Shape output_shape(Shape const& in) const { return in; }

  constexpr void forward(auto const& backend, auto const& pass) const {
    backend.normalize(normalization, pass.x, pass.y);
  }
  constexpr void backward_input(auto const& backend, auto const& pass) const {
    backend.normalize_gradient(normalization, pass.y, pass.dy, pass.dx);
  }
  static constexpr bool backward_reads_input = false, backward_reads_output = true, in_place = true;
  constexpr bool by_sample() const { return true; }
  bool operator==(Softmax const&) const = default;
};

}  // namespace coldpress

COLDPRESS_FIELDS(coldpress::Softmax);
