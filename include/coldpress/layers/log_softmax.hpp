// The layer LogSoftmax: the logarithm of the softmax of a sample.
#pragma once

#include <coldpress/core/layer.hpp>

namespace coldpress {

/// y = x - log Σ e^x over all values of a sample; dx = dy - e^y Σ dy.
struct LogSoftmax {
  static constexpr std::string_view name = "log_softmax";

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
                                             .normalization = Normalization::log_softmax};
  bool operator==(LogSoftmax const&) const = default;
};

}  // namespace coldpress

COLDPRESS_FIELDS(coldpress::LogSoftmax);
