// The layer ConvolutionTranspose: the transpose of a convolution, which makes images, volumes and sequences larger.
#pragma once

#include <coldpress/core/freestanding.hpp>
#include <coldpress/core/pass.hpp>
#include <coldpress/core/sums.hpp>

namespace coldpress {

/// PyTorch's ConvTranspose2d of images {channels, height, width}: each value, times a filter, is added to num_output
/// planes, `stride` places further than the value before it. W has the shape {channels, num_output / groups, height and
/// width of filter_shape}, b the shape {num_output}. The output is {num_output, height, width}, with (in - 1) stride +
/// (filter - 1) dilation + 1 + output_padding - 2 padding values on an axis. It is the gradient of a Convolution with
/// respect to its input; a max_norm of W bounds the filters of each input channel. Volumes {channels, depth, height,
/// width} have three such axes, as in PyTorch's ConvTranspose3d.
///
/// A sequence {steps, features} becomes {steps, num_output} in the same way, as in PyTorch's ConvTranspose1d, with a W
/// of the shape {features, num_output / groups, filter_shape}. It is not causal, and has no streams.
struct ConvolutionTranspose {
  static constexpr std::string_view name = "convolution_transpose";
  Index num_output = 0;
  PerAxis filter_shape = 0;
  PerAxis stride = 1;
  PerAxis padding = 0;         // values that are cut off on each side of the output
  PerAxis output_padding = 0;  // values that are added at the end, less than the stride or the dilation
  PerAxis dilation = 1;        // distance between neighbouring taps
  Index groups = 1;            // number of groups of channels and outputs; an output reads only its group's
  bool has_bias = true;
  Weight weight = {}, bias = {};  // initially Glorot, and 0

  /// The geometry of the Convolution that maps the output to the input, for a sample shape that output_shape has
  /// accepted.
  template <class Needs = Require>
  constexpr VolumeGeometry geometry(Shape const& in, Needs require = {}) const {
    auto const axis = [&](Index extent, int a) {
      return make_transposed_axis(extent, filter_shape[a], stride[a], padding[a], output_padding[a], dilation[a],
                                  require);
    };
    using G = ConvolutionGeometry;
    if (in.has_rank(2)) return G{num_output, in[1], groups, axis(in[0], 0), {}, ConvolutionKind::sequence};
    if (in.has_rank(3)) return G{num_output, in[0], groups, axis(in[1], 0), axis(in[2], 1), ConvolutionKind::image};
    return {{num_output, in[0], groups, axis(in[2], 1), axis(in[3], 2), ConvolutionKind::volume}, axis(in[1], 0)};
  }
  template <class Needs = Require>
  constexpr Shape output_shape(Shape const& in, Needs require = {}) const {
    require(
        in.size() > 0 && in.rank() >= 2 && in.rank() <= 4,
        "convolution_transpose: the input must be {channels, height, width}, {channels, depth, height, width}, or a "
        "sequence {steps, features}");
    require(num_output >= 1 && num_output <= Index{1} << 40,
            "convolution_transpose: num_output must be from 1 to 2^40");
    require(groups >= 1 && in[in.has_rank(2) ? 1 : 0] % groups == 0 && num_output % groups == 0,
            "convolution_transpose: groups must divide the channels and num_output");
    int const axes = in.rank() - 1;
    require(filter_shape.count <= axes && stride.count <= axes && padding.count <= axes &&
                output_padding.count <= axes && dilation.count <= axes,
            "convolution_transpose: a field has more numbers than the input has axes");
    require(axes < 3 || (filter_shape.count != 2 && stride.count != 2 && padding.count != 2 &&
                         output_padding.count != 2 && dilation.count != 2),
            "convolution_transpose: {channels, depth, height, width} has three axes: no field may have two numbers");
    if (require.failed()) return in;
    VolumeGeometry const g = geometry(in, require);
    if (require.failed()) return in;
    Shape const out = g.is_sequence() ? Shape{g.height.in, num_output}
                      : g.is_volume() ? Shape{num_output, g.depth.in, g.height.in, g.width.in}
                                      : Shape{num_output, g.height.in, g.width.in};
    require(g.weight_shape().size() <= (Index{1} << 60) / g.positions() && out.size() > 0,
            "convolution_transpose: more than 2^60 products");
    require(g.has_planes(), "convolution_transpose: the filters see planes of more than 2^40 values at once");
    return out;
  }
  constexpr Parameters<2> parameters(Shape const& in) const {
    VolumeGeometry const g = geometry(in);
    Index const fan_in = g.group_outputs() * g.taps(), fan_out = g.terms();
    return {{Parameter{"weight", "-0", g.weight_shape(), Glorot{}, fan_in, fan_out}.with(weight),
             Parameter{"bias", "-0-bias", {num_output}, Constant{0}, fan_in, fan_out}.with(bias)},
            has_bias ? 2 : 1};
  }
  constexpr Index flops(Shape const& in) const { return 2 * geometry(in).products(); }

  template <PassKind>
  constexpr ConvolutionKind variant(Shape const& in) const {
    return geometry(in).kind;
  }
  // What a Convolution does forward is what this layer does backward, and vice versa.
  template <class Backend>
  constexpr Index scratch(Shape const& in, Extent extent) const {
    extent.input_gradient = true, extent.adds = false;
    return freestanding::max(Backend::convolution_scratch(geometry(in), extent), extent.training ? num_output : 0);
  }
  constexpr void forward(auto const& backend, auto const& pass) const {
    backend.convolve_transposed(geometry_in(backend, pass), pass.x, pass.p[0], has_bias ? pass.p[1] : nullptr, pass.y,
                                pass.post_ops);
  }
  constexpr void backward_input(auto const& backend, auto const& pass) const {
    using T = typename decltype(pass.dx)::Scalar;
    backend.convolve(geometry_in(backend, pass), pass.dy, pass.p[0], nullptr, pass.dx, PostOps<Chain<>, T, NoJoin>{},
                     nullptr);
    backend.map_gradient(pass.dx, pass.dx, pass.derivative);
  }
  constexpr void backward_parameters(auto const& backend, auto const& pass) const {
    using T = typename decltype(pass.dy)::Scalar;
    auto const dy = pass.dy;
    auto const& weights = pass.sinks[0];
    backend.convolve_parameter_gradients(geometry_in(backend, pass), dy, pass.x, weights, decltype(&weights){});
    if (!has_bias) return;
    auto const of_plane = [&](Index) { return [&](Index n, Index i) -> T { return dy.row(n)[i]; }; };
    T* const gradient = backend.scratch;
    Index const positions = dy.columns / num_output;
    bool const sequence = pass.in.has_rank(2);
    sum_channels(backend, dy.rows, Along{sequence ? positions : 1, num_output, sequence ? 1 : positions}, gradient,
                 of_plane, [](Index) {});
    backend.apply_gradient(gradient, num_output, pass.sinks[1]);
  }
  static constexpr Capabilities capabilities{
      .backward_reads_input = true, .backward_reads_output = false, .fuses = true};
  constexpr InputCapabilities capabilities_for(Shape const&) const { return {.streaming = StreamSupport::never}; }
  bool operator==(ConvolutionTranspose const&) const = default;

 private:
  template <class Backend, class Pass>
  constexpr auto geometry_in(Backend const&, Pass const& pass) const {
    if constexpr (!std::is_same_v<typename Pass::Variant, NoVariant>) {
      constexpr ConvolutionKind kind = Pass::Variant::value;
      VolumeGeometry const g = geometry(pass.in);
      if constexpr (kind == ConvolutionKind::volume) {
        return ConvolutionOf<kind>{g};
      } else {
        return ConvolutionOf<kind>{static_cast<ConvolutionGeometry const&>(g)};
      }
    } else if constexpr (many_threads<Backend>) {  // on a GPU, volumes have their own kernels, which are a variant
      return ConvolutionGeometry{geometry(pass.in)};
    } else {
      return geometry(pass.in);
    }
  }
};

}  // namespace coldpress

COLDPRESS_FIELDS(coldpress::ConvolutionTranspose, num_output, filter_shape, stride, padding, output_padding, dilation,
                 groups, has_bias, weight, bias);
