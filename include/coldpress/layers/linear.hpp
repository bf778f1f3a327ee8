#pragma once

#include <coldpress/core/layer.hpp>

namespace coldpress {

/// y = x Wᵀ + b, with W of shape {output_size, features} and b of shape {output_size}. Takes samples of any shape;
/// features is the number of their values.
struct Linear {
  static constexpr std::string_view name = "linear";
  Index output_size = 10;
  Filler weight = Glorot{};
  Filler bias = Constant{0};

  constexpr Shape output_shape(Shape in) const {
    require(in.rank() > 0, "linear: the input has no values");
    require(output_size > 0, "linear: output_size must be at least 1");
    return {output_size};
  }
  constexpr auto parameters(Shape in) const {
    Index const features = in.size();
    return std::array{Parameter{"weight", "-0", {output_size, features}, weight, features, output_size},
                      Parameter{"bias", "-0-bias", {output_size}, bias, features, output_size}};
  }
  constexpr Index flops(Shape in) const { return 2 * in.size() * output_size; }

  void forward(auto& backend, auto x, auto const& p, auto y, auto const& then) const {
    backend.affine(x, p[0], p[1], y, then);
  }
  void backward_input(auto& backend, auto, auto, auto const& p, auto dy, auto dx, auto const& slope) const {
    backend.product(dy, p[0], dx, slope);
  }
  void backward_parameters(auto& backend, auto x, auto dy, auto const& sinks) const {
    backend.weight_gradient(x, dy, sinks[0]);
    backend.sum_rows(dy, sinks[1]);
  }
  static constexpr bool backward_reads_input = true, backward_reads_output = false;
  bool operator==(Linear const&) const = default;
};

}  // namespace coldpress

BOOST_HANA_ADAPT_STRUCT(coldpress::Linear, output_size, weight, bias);
