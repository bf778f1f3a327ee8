// The layer Softmax of a whole sample.
#pragma once

#include <coldpress/core/layer.hpp>

namespace coldpress {

/// y = e^x / Σ e^x over all values of a sample; dx = y (dy - Σ y dy).
struct Softmax {
  static constexpr std::string_view name = "softmax";

  constexpr Shape output_shape(Shape const& in) const { return in; }

  constexpr void forward(auto const& backend, auto const& pass) const {
    backend.normalize(capabilities.normalization, pass.x, pass.y);
  }
  constexpr void backward_input(auto const& backend, auto const& pass) const {
    backend.normalize_gradient(capabilities.normalization, pass.y, pass.dy, pass.dx);
  }
  static constexpr Capabilities capabilities{.backward_reads_input = false,
                                             .backward_reads_output = true,
                                             .in_place = true,
                                             .normalization = Normalization::softmax};
  bool operator==(Softmax const&) const = default;
};

}  // namespace coldpress

COLDPRESS_FIELDS(coldpress::Softmax);
