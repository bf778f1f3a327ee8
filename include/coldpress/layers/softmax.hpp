#pragma once

#include <coldpress/core/layer.hpp>

namespace coldpress {

/// y = e^x / Σ e^x over all values of a sample; dx = y (dy - Σ y dy).
struct Softmax {
  static constexpr std::string_view name = "softmax";
  static constexpr Normalization normalization = Normalization::softmax;

  constexpr Shape output_shape(Shape in) const { return in; }

  void forward(auto& backend, auto x, auto const&, auto y) const { backend.normalize(normalization, x, y); }
  void backward_input(auto& backend, auto, auto y, auto const&, auto dy, auto dx) const {
    backend.normalize_gradient(normalization, y, dy, dx);
  }
  static constexpr bool backward_reads_input = false, backward_reads_output = true, in_place = true;
  bool operator==(Softmax const&) const = default;
};

}  // namespace coldpress

BOOST_HANA_ADAPT_STRUCT(coldpress::Softmax);
