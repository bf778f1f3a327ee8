// The layer Linear: a dense (fully connected) layer.
#pragma once

#include <coldpress/core/freestanding.hpp>
#include <coldpress/core/layer.hpp>

namespace coldpress {

/// y = x Wᵀ + b, where W has the shape {output_size, features} and b the shape {output_size}. Samples may have any
/// shape; features is the number of their values. W is initially Glorot, b is 0.
struct Linear {
  static constexpr std::string_view name = "linear";
  Index output_size = 10;
  Weight weight = {}, bias = {};

  template <class Needs = Require>
  constexpr Shape output_shape(Shape const& in, Needs require = {}) const {
    require(in.rank() > 0, "linear: the input has no values");
    require(output_size > 0, "linear: output_size must be at least 1");
    return {output_size};
  }
  constexpr auto parameters(Shape const& in) const {
    Index const features = in.size();
    return std::array{Parameter{"weight", "-0", {output_size, features}, Glorot{}, features, output_size}.with(weight),
                      Parameter{"bias", "-0-bias", {output_size}, Constant{0}, features, output_size}.with(bias)};
  }
  constexpr Index flops(Shape const& in) const { return 2 * in.size() * output_size; }

  template <class Backend>
  constexpr Index scratch(Shape const& in, Extent extent) const {
    return freestanding::max(extent.input_gradient ? Backend::product_scratch(in.size(), output_size) : 0,
                             extent.training ? Backend::weight_gradient_scratch(in.size(), output_size) : 0);
  }
  __attribute__((always_inline)) constexpr void forward(auto const& backend, auto const& pass) const {
    backend.affine(pass.x, pass.p[0], pass.p[1], pass.y, pass.post_ops);
  }
  constexpr void backward_input(auto const& backend, auto const& pass) const {
    backend.product(pass.dy, pass.p[0], pass.dx, pass.derivative);
  }
  constexpr void backward_parameters(auto const& backend, auto const& pass) const {
    backend.weight_gradient(pass.x, pass.dy, pass.sinks[0]);
    backend.sum_rows(pass.dy, pass.sinks[1]);
  }
  static constexpr Capabilities capabilities{
      .backward_reads_input = true, .backward_reads_output = false, .fuses = true, .adds = true};
  bool operator==(Linear const&) const = default;
};

}  // namespace coldpress

COLDPRESS_FIELDS(coldpress::Linear, output_size, weight, bias);
