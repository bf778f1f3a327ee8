// The layer PReLU: linear units whose slope for negative values is learned.
#pragma once

#include <coldpress/core/layer.hpp>
#include <coldpress/core/sums.hpp>

namespace coldpress {

/// y = x for positive x, else slope x, where the slope is a parameter (PyTorch's PReLU; He et al. 2015). There is one
/// slope for all values, or, if num_parameters is the extent of `axis`, one for each place on it. They are initially
/// 0.25.
struct PReLU {
  static constexpr std::string_view name = "prelu";
  Index num_parameters = 1;
  int axis = 0;
  Weight weight = {};

  template <class Needs = Require>
  constexpr Shape output_shape(Shape const& in, Needs require = {}) const {
    Index const extent = in[axis_of(in, axis, require)];
    require(num_parameters == 1 || num_parameters == extent,
            "prelu: num_parameters must be 1 or the extent of the axis");
    return in;
  }
  constexpr auto parameters(Shape const&) const {
    Index const n = num_parameters;
    return std::array{Parameter{"weight", "-0", {n}, Constant{0.25f}, n, n}.with(weight)};
  }

  template <class Backend>
  constexpr Index scratch(Shape const&, Extent extent) const {
    return extent.training ? num_parameters : 0;
  }
  constexpr void forward(auto const& backend, auto const& pass) const {
    auto const x = pass.x;
    auto const y = pass.y;
    each_value(backend, pass, [&](Index n, Index i, auto slope) {
      auto const value = x.row(n)[i];
      y.row(n)[i] = value > 0 ? value : slope * value;
    });
  }
  constexpr void backward_input(auto const& backend, auto const& pass) const {
    auto const x = pass.x;
    auto const dy = pass.dy;
    auto const dx = pass.dx;
    each_value(backend, pass, [&](Index n, Index i, auto slope) {
      dx.row(n)[i] = x.row(n)[i] > 0 ? dy.row(n)[i] : slope * dy.row(n)[i];
    });
  }
  /// Each slope's gradient is Σ x dy over its values that are not positive.
  constexpr void backward_parameters(auto const& backend, auto const& pass) const {
    using T = typename decltype(pass.dy)::Scalar;
    auto const x = pass.x;
    auto const dy = pass.dy;
    auto const of_channel = [&](Index) {
      return [&](Index n, Index i) { return x.row(n)[i] > 0 ? T{} : x.row(n)[i] * dy.row(n)[i]; };
    };
    T* const gradient = backend.scratch;
    sum_channels(backend, dy.rows, slopes(pass.in), gradient, of_channel, [](Index) {});
    backend.apply_gradient(gradient, num_parameters, pass.sinks[0]);
  }
  static constexpr Capabilities capabilities{
      .backward_reads_input = true, .backward_reads_output = false, .loops = true};
  constexpr InputCapabilities capabilities_for(Shape const& in) const {
    return {.streaming = streams_if(num_parameters == 1 ? in.rank() > 1 : keeps_steps(in, axis))};
  }
  bool operator==(PReLU const&) const = default;

 private:
  /// A sample along the axis of the slopes.
  constexpr Along slopes(Shape const& in) const {
    return num_parameters == 1 ? Along{1, 1, in.size()} : Along{in, axis};
  }
  /// f(sample, place, slope) for each value.
  constexpr void each_value(auto const& backend, auto const& pass, auto f) const {
    auto const slope = [&](Index c) { return std::array{pass.p[0][c]}; };
    each_channel_value(backend, pass.x, slopes(pass.in), slope, f);
  }
};

}  // namespace coldpress

COLDPRESS_FIELDS(coldpress::PReLU, num_parameters, axis, weight);
