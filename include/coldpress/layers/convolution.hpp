// The layer Convolution: cross-correlation of images, and causal convolution of sequences.
#pragma once

#include <coldpress/core/pass.hpp>

namespace coldpress {

/// Cross-correlation of images {channels, height, width} with num_output filters, plus a bias: y[k, i, j] = b[k] + Σ
/// W[k, c, r, s] x[c, i stride + r dilation - padding, ...]. W has the shape {num_output, channels / groups, height and
/// width of filter_shape}, b the shape {num_output}, and the output the shape {num_output, height, width}.
///
/// There are `padding` zeros before each axis and `padding_after` behind it, by default as many. With `same` there are
/// as many as are needed for extent / stride outputs, rounded up; if their number is odd, one more is behind the axis
/// than before it.
///
/// A sequence {steps, features} is convolved along its steps. The output is {steps, num_output}, and W has the shape
/// {num_output, features / groups, filter_shape}. A sample {features} is one step. Usually it is causal: output step t
/// depends on no input after step t stride, and there are as many zeros before the first step as the filter reaches
/// back. With a stride of 1, it may then also be given in parts. If not `causal`, or with `same`, it is padded as an
/// image is.
struct Convolution {
  static constexpr std::string_view name = "convolution";
  Index num_output = 0;
  PerAxis filter_shape = 0;
  PerAxis stride = 1;
  PerAxis padding = 0;                      // zeros before an axis; a causal sequence has its own
  PerAxis padding_after = PerAxis::none();  // zeros after it; none: as many as before
  bool same = false;                        // as many zeros as keep the extents where the stride is 1
  bool causal = true;                       // of sequences
  PerAxis dilation = 1;                     // distance between neighbouring taps
  Index groups = 1;  // number of groups of channels and outputs; an output reads only its group's
  bool has_bias = true;
  Weight weight = {}, bias = {};  // initially Glorot, and 0

  /// The geometry for a sample shape that output_shape has accepted; the checks, which take time, are there.
  template <class Needs = Require>
  __attribute__((always_inline)) constexpr ConvolutionGeometry geometry(Shape const& in, Needs require = {}) const {
    int const rank = in.rank();
    bool const sequence = rank < 3;
    ConvolutionGeometry g{sequence ? in[rank - 1] : in[0], num_output, groups, {}, {}, sequence};
    auto const axis = [&](Index extent, int a) {
      Index const filter = filter_shape[a], spacing = dilation[a];
      if (same) return make_same_axis(extent, filter, stride[a], spacing, require);
      bool const looks_back = sequence && causal;
      Index const before = looks_back ? (filter - 1) * spacing : padding[a],
                  after = looks_back ? 0 : (padding_after.count > 0 ? padding_after : padding)[a];
      return make_axis(extent, filter, stride[a], before, after, spacing, Rounding::floor, require);
    };
    if (sequence) {
      g.height = axis(rank == 1 ? 1 : in[0], 0);
    } else {
      g.height = axis(in[1], 0);
      g.width = axis(in[2], 1);
    }
    return g;
  }
  template <class Needs = Require>
  constexpr Shape output_shape(Shape const& in, Needs require = {}) const {
    int const rank = in.rank();
    require(in.size() > 0 && rank <= 3,
            "convolution: the input must be {channels, height, width}, or a sequence {steps, features}");
    require(num_output >= 1 && num_output <= Index{1} << 40, "convolution: num_output must be from 1 to 2^40");
    require(groups >= 1 && (rank < 3 ? in[rank - 1] : in[0]) % groups == 0 && num_output % groups == 0,
            "convolution: groups must divide the channels and num_output");
    if (rank < 3) {
      require(filter_shape.count == 1 && stride.count == 1 && dilation.count == 1 && padding.count == 1 &&
                  padding_after.count <= 1,
              "convolution: a sequence has one axis, for which each field is one number");
      require(
          !causal || same || (padding == 0 && padding_after.count == 0),
          "convolution: a causal sequence has its own zeros; padding is for images, and for sequences with causal = "
          "false");
      require(filter_shape[0] >= 1 && dilation[0] >= 1 && filter_shape[0] <= (Index{1} << 30) / dilation[0],
              "convolution: filter_shape and dilation must be at least 1, and their product at most 2^30");
    } else {
      require(filter_shape.count <= 2 && stride.count <= 2 && padding.count <= 2 && padding_after.count <= 2 &&
                  dilation.count <= 2,
              "convolution: an image has two axes: no field may have three numbers");
    }
    require(!same || (padding == 0 && padding_after.count == 0),
            "convolution: with same = true, the padding follows from the extents and must not be given");
    if (require.failed()) return in;
    ConvolutionGeometry const g = geometry(in, require);
    if (require.failed()) return in;
    require(rank > 1 || g.height.out == 1,
            "convolution: one step {features} must give one step; more of them are a sequence {steps, features}");
    Index const weights = g.weight_shape().size(), outputs = Shape{num_output, g.height.out, g.width.out}.size();
    require(weights / num_output <= (Index{1} << 60) / outputs, "convolution: more than 2^60 products");
    return rank == 1   ? Shape{num_output}
           : rank == 2 ? Shape{g.height.out, num_output}
                       : Shape{num_output, g.height.out, g.width.out};
  }
  constexpr Parameters<2> parameters(Shape const& in) const {
    ConvolutionGeometry const g = geometry(in);
    Index const fan_in = g.depth(), fan_out = g.group_outputs() * g.taps();
    return {{Parameter{"weight", "-0", g.weight_shape(), Glorot{}, fan_in, fan_out}.with(weight),
             Parameter{"bias", "-0-bias", {num_output}, Constant{0}, fan_in, fan_out}.with(bias)},
            has_bias ? 2 : 1};
  }
  constexpr Index flops(Shape const& in) const { return 2 * geometry(in).products(); }
  constexpr Index state(Shape const& in) const { return comes_in_parts(in) ? geometry(in).state() : 0; }

  constexpr Index past(Shape const& in) const { return comes_in_parts(in) ? geometry(in).past() : 0; }

  /// A stream's step is inlined, so its variant is the whole geometry.
  template <PassKind kind>
  constexpr auto variant(Shape const& in) const {
    if constexpr (kind == PassKind::stream) {
      return geometry(in);
    } else {
      return geometry(in).sequence;
    }
  }
  template <class Backend>
  constexpr Index scratch(Shape const& in, Extent extent) const {
    return Backend::convolution_scratch(geometry(in), extent);
  }
  __attribute__((always_inline)) constexpr void forward(auto const& backend, auto const& pass) const {
    auto const* const biases = has_bias ? pass.p[1] : nullptr;
    if constexpr (is_signal<std::remove_cvref_t<decltype(pass.x)>>) {
      backend.convolve(geometry_in(pass), pass.x, pass.p[0], biases, pass.y, pass.post_ops, pass.most);
    } else {
      backend.convolve(geometry_in(pass), pass.x, pass.p[0], biases, pass.y, pass.post_ops, pass.state, pass.windows);
    }
  }
  constexpr void backward_input(auto const& backend, auto const& pass) const {
    backend.convolve_input_gradient(geometry_in(pass), pass.dy, pass.p[0], pass.dx, pass.derivative, pass.windows);
  }
  constexpr void backward_parameters(auto const& backend, auto const& pass) const {
    auto const weights = pass.sinks[0], biases = pass.sinks[has_bias ? 1 : 0];
    backend.convolve_parameter_gradients(geometry_in(pass), pass.x, pass.dy, weights, has_bias ? &biases : nullptr,
                                         pass.windows);
  }
  static constexpr Capabilities capabilities{.backward_reads_input = true,
                                             .backward_reads_output = false,
                                             .fuses = true,
                                             .adds = true,
                                             .fuses_maxima = true,
                                             .any_steps = true,
                                             .signals = true};
  constexpr InputCapabilities capabilities_for(Shape const& in) const {
    return {.streaming = comes_in_parts(in) ? StreamSupport::always : StreamSupport::never,
            .image_blocks = geometry(in).in_blocks()};
  }
  bool operator==(Convolution const&) const = default;

 private:
  template <class Pass>
  __attribute__((always_inline)) constexpr auto geometry_in(Pass const& pass) const {
    if constexpr (std::is_same_v<typename Pass::Variant, NoVariant>) {
      return geometry(pass.in);
    } else if constexpr (std::is_same_v<typename Pass::Variant::value_type, bool>) {
      return ConvolutionOf<Pass::Variant::value>{geometry(pass.in)};
    } else {
      return KnownConvolution<Pass::Variant::value>{};
    }
  }
  constexpr bool comes_in_parts(Shape const& in) const { return in.rank() < 3 && stride == 1 && causal && !same; }
};

}  // namespace coldpress

COLDPRESS_FIELDS(coldpress::Convolution, num_output, filter_shape, stride, padding, padding_after, same, causal,
                 dilation, groups, has_bias, weight, bias);
