// The layer Linear: a dense (fully connected) layer.
#pragma once

#include <coldpress/core/freestanding.hpp>
#include <coldpress/core/pass.hpp>

namespace coldpress {

/// y = x Wᵀ + b, where W has the shape {output_size, features} and b the shape {output_size}. Samples may have any
/// shape; features is the number of their values. With last_axis, it is that of their last axis: each step of a
/// sequence {steps, features} is multiplied by the same W, and {..., features} becomes {..., output_size}. Its sums are
/// then in the order of the features, so that a step of a stream has the bits that it has in the whole sequence. W is
/// initially Glorot, b is 0.
struct Linear {
  static constexpr std::string_view name = "linear";
  Index output_size = 10;
  Weight weight = {}, bias = {};
  bool has_bias = true;
  bool last_axis = false;

  template <class Needs = Require>
  constexpr Shape output_shape(Shape const& in, Needs require = {}) const {
    require(in.rank() > 0, "linear: the input has no values");
    require(output_size > 0, "linear: output_size must be at least 1");
    if (require.failed() || !last_axis) return {output_size};
    Shape out = in;
    out.extents[in.rank() - 1] = output_size;
    return out;
  }
  constexpr Parameters<2> parameters(Shape const& in) const {
    Index const features = in.size() / rows(in);
    Parameter matrix{"weight", "-0", {output_size, features}, Glorot{}, features, output_size};
    matrix.by_step = last_axis;
    return {{matrix.with(weight),
             Parameter{"bias", "-0-bias", {output_size}, Constant{0}, features, output_size}.with(bias)},
            has_bias ? 2 : 1};
  }
  constexpr Index flops(Shape const& in) const { return 2 * in.size() * output_size; }

  /// With last_axis, it is a convolution of a sequence by one step.
  constexpr ConvolutionOf<ConvolutionKind::sequence> geometry(Shape const& in) const {
    Axis steps;
    steps.in = steps.out = rows(in);
    return {{in.size() / rows(in), output_size, 1, steps, {}, ConvolutionKind::sequence}};
  }
  template <PassKind>
  constexpr bool variant(Shape const&) const {
    return last_axis;
  }
  template <PassKind, bool of_last_axis>
  constexpr ConvolutionGeometry sizes(Shape const& in) const requires(of_last_axis) {
    return geometry(in);
  }
  template <class Backend>
  constexpr Index scratch(Shape const& in, Extent extent) const {
    if (last_axis) return Backend::convolution_scratch(geometry(in), extent);
    return freestanding::max(extent.input_gradient ? Backend::product_scratch(in.size(), output_size) : 0,
                             extent.training ? Backend::weight_gradient_scratch(in.size(), output_size) : 0);
  }
  __attribute__((always_inline)) constexpr void forward(auto const& backend, auto const& pass) const {
    auto const* const biases = has_bias ? pass.p[1] : nullptr;
    if constexpr (may_be<true, decltype(pass)>) {
      if (last_axis)
        return backend.convolve(geometry_in(pass), pass.x, pass.p[0], biases, pass.y, pass.post_ops, nullptr);
    }
    if constexpr (may_be<false, decltype(pass)>) backend.affine(pass.x, pass.p[0], biases, pass.y, pass.post_ops);
  }
  constexpr void backward_input(auto const& backend, auto const& pass) const {
    if constexpr (may_be<true, decltype(pass)>) {
      if (last_axis)
        return backend.convolve_input_gradient(geometry_in(pass), pass.dy, pass.p[0], pass.dx, pass.derivative);
    }
    if constexpr (may_be<false, decltype(pass)>) backend.product(pass.dy, pass.p[0], pass.dx, pass.derivative);
  }
  constexpr void backward_parameters(auto const& backend, auto const& pass) const {
    auto const& biases = pass.sinks[has_bias ? 1 : 0];
    if constexpr (may_be<true, decltype(pass)>) {
      if (last_axis)
        return backend.convolve_parameter_gradients(geometry_in(pass), pass.x, pass.dy, pass.sinks[0],
                                                    has_bias ? &biases : nullptr);
    }
    if constexpr (may_be<false, decltype(pass)>) {
      backend.weight_gradient(pass.x, pass.dy, pass.sinks[0]);
      if (has_bias) backend.sum_rows(pass.dy, biases);
    }
  }
  static constexpr Capabilities capabilities{
      .backward_reads_input = true, .backward_reads_output = false, .fuses = true, .adds = true};
  constexpr InputCapabilities capabilities_for(Shape const&) const { return {.streaming = streams_if(last_axis)}; }
  bool operator==(Linear const&) const = default;

 private:
  template <class Pass>
  constexpr auto geometry_in(Pass const& pass) const {
    if constexpr (requires { Pass::Variant::sizes; }) {
      return ConvolutionAmong<ConvolutionKind::sequence, Pass::Variant::sizes>{geometry(pass.in)};
    } else {
      return geometry(pass.in);
    }
  }
  /// How many products with W a sample needs.
  constexpr Index rows(Shape const& in) const { return last_axis ? in.size() / in.last() : 1; }
  /// Whether `last_axis` may have this value in a pass, so that only what is needed is compiled where that is known.
  template <bool value, class Pass>
  static constexpr bool may_be = [] {
    using Variant = typename std::remove_cvref_t<Pass>::Variant;
    if constexpr (std::is_same_v<Variant, NoVariant>) {
      return true;
    } else {
      return Variant::value == value;
    }
  }();
};

}  // namespace coldpress

COLDPRESS_FIELDS(coldpress::Linear, output_size, weight, bias, has_bias, last_axis);
