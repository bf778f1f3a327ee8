// The layer SoftmaxOver: softmax or log softmax along one axis.
#pragma once

#include <coldpress/core/normalize_lines.hpp>

namespace coldpress {

/// The softmax, or its logarithm, of each line of a sample along one axis: y = e^x / Σ e^x, as in Mocha. For all values
/// of a sample at once, use Softmax and LogSoftmax.
struct SoftmaxOver {
  static constexpr std::string_view name = "softmax_over";
  int axis = 0;
  bool logarithm = false;

  template <class Needs = Require>
  constexpr Shape output_shape(Shape const& in, Needs require = {}) const {
    static_cast<void>(axis_of(in, axis, require));
    return in;
  }

  template <class Backend>
  constexpr Index scratch(Shape const& in, Extent extent) const {
    return normalize_lines_scratch<Backend>(Along{in, axis}, extent.input_gradient, extent.workers);
  }
  constexpr void forward(auto const& backend, auto const& pass) const {
    normalize_lines(backend, kind(), Along{pass.in, axis}, pass.x, pass.y);
  }
  constexpr void backward_input(auto const& backend, auto const& pass) const {
    normalize_lines_gradient(backend, kind(), Along{pass.in, axis}, pass.y, pass.dy, pass.dx);
  }
  static constexpr Capabilities capabilities{
      .backward_reads_input = false, .backward_reads_output = true, .in_place = true, .loops = true};
  constexpr InputCapabilities capabilities_for(Shape const& in) const {
    return {.streaming = streams_if(keeps_steps(in, axis))};
  }
  bool operator==(SoftmaxOver const&) const = default;

 private:
  constexpr Normalization kind() const { return logarithm ? Normalization::log_softmax : Normalization::softmax; }
};

}  // namespace coldpress

COLDPRESS_FIELDS(coldpress::SoftmaxOver, axis, logarithm);
