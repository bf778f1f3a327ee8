// The layer TiedLinear: a dense layer with the transposed weights of a Linear.
#pragma once

#include <coldpress/core/each.hpp>
#include <coldpress/core/freestanding.hpp>
#include <coldpress/core/pass.hpp>

namespace coldpress {

/// y = x W + b, where W {features, output_size} is shared with a Linear that maps output_size values to `features`
/// (Mocha's TiedInnerProduct): a decoder with the encoder's weights. In an expression, write code | tied(encoded); in a
/// config, both layers give their first weight the same name. Unlike in Mocha, the gradient of W is that of both uses.
struct TiedLinear {
  static constexpr std::string_view name = "tied_linear";
  Index output_size = 10;
  Weight weight = {}, bias = {};

  template <class Needs = Require>
  constexpr Shape output_shape(Shape const& in, Needs require = {}) const {
    require(in.rank() > 0, "tied_linear: the input has no values");
    require(output_size > 0, "tied_linear: output_size must be at least 1");
    return {output_size};
  }
  constexpr auto parameters(Shape const& in) const {
    Index const features = in.size();
    return std::array{Parameter{"weight", "-0", {features, output_size}, Glorot{}, output_size, features}.with(weight),
                      Parameter{"bias", "-0-bias", {output_size}, Constant{0}, features, output_size}.with(bias)};
  }
  constexpr Index flops(Shape const& in) const { return 2 * in.size() * output_size; }

  // What a Linear does backward is this layer's forward, and vice versa.
  template <class Backend>
  constexpr Index scratch(Shape const& in, Extent extent) const {
    return freestanding::max(Backend::product_scratch(output_size, in.size()),
                             extent.training ? Backend::weight_gradient_scratch(output_size, in.size()) : 0);
  }
  constexpr void forward(auto const& backend, auto const& pass) const {
    backend.product(pass.x, pass.p[0], pass.y, Derivative<Chain<>, std::remove_cvref_t<decltype(*pass.y.data)>>{});
    each_part(backend, pass.y, output_size, [&](Index i, Index first, Index last) {
      for (Index j = first; j < last; ++j) pass.y.row(i)[j] += pass.p[1][j];
    });
  }
  constexpr void backward_input(auto const& backend, auto const& pass) const {
    backend.affine(pass.dy, pass.p[0], nullptr, pass.dx,
                   PostOps<Chain<>, std::remove_cvref_t<decltype(*pass.dx.data)>>{});
  }
  constexpr void backward_parameters(auto const& backend, auto const& pass) const {
    backend.weight_gradient(pass.dy, pass.x, pass.sinks[0]);
    backend.sum_rows(pass.dy, pass.sinks[1]);
  }
  static constexpr Capabilities capabilities{.backward_reads_input = true, .backward_reads_output = false};
  bool operator==(TiedLinear const&) const = default;
};

}  // namespace coldpress

COLDPRESS_FIELDS(coldpress::TiedLinear, output_size, weight, bias);
