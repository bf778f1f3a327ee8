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
  constexpr ConvolutionOf<true> geometry(Shape const& in) const {
    Axis steps;
    steps.in = steps.out = rows(in);
    return {{in.size() / rows(in), output_size, 1, steps, {}, true}};
  }
  template <PassKind>
  constexpr bool variant(Shape const&) const {
    return last_axis;
  }
  template <class Backend>
  constexpr Index scratch(Shape const& in, Extent extent) const {
    if (last_axis) return Backend::convolution_scratch(geometry(in), extent);
    return freestanding::max(extent.input_gradient ? Backend::product_scratch(in.size(), output_size) : 0,
                             extent.training ? Backend::weight_gradient_scratch(in.size(), output_size) : 0);
  }
  __attribute__((always_inline)) constexpr void forward(auto const& backend, auto const& pass) const {
    auto const* const biases = has_bias ? pass.p[1] : nullptr;
    if_last_axis(
        pass,
        [&](auto const& g) __attribute__((always_inline)) {
          backend.convolve(g, pass.x, pass.p[0], biases, pass.y, pass.post_ops, nullptr);
        },
        [&](auto const& x)
            __attribute__((always_inline)) { backend.affine(x, pass.p[0], biases, pass.y, pass.post_ops); },
        pass.x);
  }
  constexpr void backward_input(auto const& backend, auto const& pass) const {
    if_last_axis(
        pass, [&](auto const& g) { backend.convolve_input_gradient(g, pass.dy, pass.p[0], pass.dx, pass.derivative); },
        [&](auto const& dy) { backend.product(dy, pass.p[0], pass.dx, pass.derivative); }, pass.dy);
  }
  constexpr void backward_parameters(auto const& backend, auto const& pass) const {
    auto const weights = pass.sinks[0], biases = pass.sinks[has_bias ? 1 : 0];
    if_last_axis(
        pass,
        [&](auto const& g) {
          backend.convolve_parameter_gradients(g, pass.x, pass.dy, weights, has_bias ? &biases : nullptr);
        },
        [&](auto const& x) {
          backend.weight_gradient(x, pass.dy, weights);
          if (has_bias) backend.sum_rows(pass.dy, biases);
        },
        pass.x);
  }
  static constexpr Capabilities capabilities{
      .backward_reads_input = true, .backward_reads_output = false, .fuses = true, .adds = true};
  constexpr InputCapabilities capabilities_for(Shape const&) const { return {.streaming = streams_if(last_axis)}; }
  bool operator==(Linear const&) const = default;

 private:
  /// How many products with W a sample needs.
  constexpr Index rows(Shape const& in) const { return last_axis ? in.size() / in[in.rank() - 1] : 1; }
  /// Calls by_axis(geometry) or whole(rows). If the pass knows which one, only that is compiled, since both are
  /// templates.
  template <class Pass, class F, class G, class Rows>
  __attribute__((always_inline)) constexpr void if_last_axis(Pass const& pass, F by_axis, G whole,
                                                             Rows const& rows) const {
    if constexpr (std::is_same_v<typename Pass::Variant, NoVariant>) {
      last_axis ? by_axis(geometry(pass.in)) : whole(rows);
    } else if constexpr (Pass::Variant::value) {
      by_axis(geometry(pass.in));
    } else {
      whole(rows);
    }
  }
};

}  // namespace coldpress

COLDPRESS_FIELDS(coldpress::Linear, output_size, weight, bias, has_bias, last_axis);
