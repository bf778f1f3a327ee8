// The layer Convolution: cross-correlation of images and volumes, and causal convolution of sequences.
#pragma once

#include <coldpress/core/each.hpp>
#include <coldpress/core/pass.hpp>

namespace coldpress {

/// Cross-correlation of images {channels, height, width} with num_output filters, plus a bias: y[k, i, j] = b[k] + Σ
/// W[k, c, r, s] x[c, i stride + r dilation - padding, ...]. W has the shape {num_output, channels / groups, height and
/// width of filter_shape}, b the shape {num_output}, and the output the shape {num_output, height, width}. Volumes
/// {channels, depth, height, width} are convolved in the same way along three axes, with the depth as the first.
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

 private:
  // These come before the functions that use them in constants, because clang needs their bodies there.
  static constexpr ConvolutionKind kind_of(Shape const& in) {
    int const rank = in.rank();
    return rank < 3 ? ConvolutionKind::sequence : rank == 3 ? ConvolutionKind::image : ConvolutionKind::volume;
  }
  template <class Needs>
  constexpr Axis axis(Index extent, int a, bool looks_back, Needs require) const {
    Index const filter = filter_shape[a], spacing = dilation[a];
    if (same) return make_same_axis(extent, filter, stride[a], spacing, require);
    Index const before = looks_back ? (filter - 1) * spacing : padding[a],
                after = looks_back ? 0 : (padding_after.count > 0 ? padding_after : padding)[a];
    return make_axis(extent, filter, stride[a], before, after, spacing, Rounding::floor, require);
  }
  /// The geometry of samples whose kind the compiler knows.
  template <ConvolutionKind kind, class Needs = Require>
  __attribute__((always_inline)) constexpr ConvolutionOf<kind> of_kind(Shape const& in, Needs require = {}) const {
    auto const with = [&](Index channels) { return ConvolutionGeometry{channels, num_output, groups, {}, {}, kind}; };
    if constexpr (kind == ConvolutionKind::sequence) {
      int const rank = in.rank();
      ConvolutionGeometry g = with(rank == 2 ? in[1] : in[0]);
      g.height = axis(rank == 1 ? 1 : in[0], 0, causal, require);
      return {g};
    } else {
      constexpr int first = kind == ConvolutionKind::image ? 0 : 1;  // of the axes of a plane
      ConvolutionGeometry g = with(in[0]);
      g.height = axis(in[first + 1], first, false, require);
      g.width = axis(in[first + 2], first + 1, false, require);
      if constexpr (kind == ConvolutionKind::image) {
        return {g};
      } else {
        return {VolumeGeometry{g, axis(in[1], 0, false, require)}};
      }
    }
  }

 public:
  /// The geometry for a sample shape that output_shape has accepted; the checks, which take time, are there.
  template <class Needs = Require>
  __attribute__((always_inline)) constexpr VolumeGeometry geometry(Shape const& in, Needs require = {}) const {
    ConvolutionKind const kind = kind_of(in);
    if (kind == ConvolutionKind::sequence) return of_kind<ConvolutionKind::sequence>(in, require);
    if (kind == ConvolutionKind::image) return of_kind<ConvolutionKind::image>(in, require);
    return of_kind<ConvolutionKind::volume>(in, require);
  }
  template <class Needs = Require>
  constexpr Shape output_shape(Shape const& in, Needs require = {}) const {
    int const rank = in.rank();
    require(in.size() > 0 && rank <= 4,
            "convolution: the input must be {channels, height, width}, {channels, depth, height, width}, or a sequence "
            "{steps, features}");
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
    } else if (rank == 3) {
      require(filter_shape.count <= 2 && stride.count <= 2 && padding.count <= 2 && padding_after.count <= 2 &&
                  dilation.count <= 2,
              "convolution: an image has two axes: no field may have three numbers");
    } else {
      require(filter_shape.count != 2 && stride.count != 2 && padding.count != 2 && padding_after.count != 2 &&
                  dilation.count != 2,
              "convolution: {channels, depth, height, width} has three axes: no field may have two numbers");
    }
    require(!same || (padding == 0 && padding_after.count == 0),
            "convolution: with same = true, the padding follows from the extents and must not be given");
    if (require.failed()) return in;
    VolumeGeometry const g = geometry(in, require);
    if (require.failed()) return in;
    require(rank > 1 || g.height.out == 1,
            "convolution: one step {features} must give one step; more of them are a sequence {steps, features}");
    Index const weights = g.weight_shape().size(),
                outputs = Shape{num_output, g.depth.out, g.height.out, g.width.out}.size();
    require(weights / num_output <= (Index{1} << 60) / outputs, "convolution: more than 2^60 products");
    require(g.has_planes(), "convolution: the filters see planes of more than 2^40 values at once");
    return rank == 1   ? Shape{num_output}
           : rank == 2 ? Shape{g.height.out, num_output}
           : rank == 3 ? Shape{num_output, g.height.out, g.width.out}
                       : Shape{num_output, g.depth.out, g.height.out, g.width.out};
  }
  constexpr Parameters<2> parameters(Shape const& in) const {
    VolumeGeometry const g = geometry(in);
    Index const fan_in = g.terms(), fan_out = g.group_outputs() * g.taps();
    return {{Parameter{"weight", "-0", g.weight_shape(), Glorot{}, fan_in, fan_out}.with(weight),
             Parameter{"bias", "-0-bias", {num_output}, Constant{0}, fan_in, fan_out}.with(bias)},
            has_bias ? 2 : 1};
  }
  constexpr Index flops(Shape const& in) const { return 2 * geometry(in).products(); }
  constexpr Index state(Shape const& in) const { return comes_in_parts(in) ? geometry(in).state() : 0; }

  constexpr Index past(Shape const& in) const { return comes_in_parts(in) ? geometry(in).past() : 0; }

  /// A stream's step is inlined, so its variant is the whole geometry, but for the depth, since volumes are no steps.
  template <PassKind kind>
  constexpr auto variant(Shape const& in) const {
    if constexpr (kind == PassKind::stream) {
      return ConvolutionGeometry{geometry(in)};
    } else {
      return kind_of(in);
    }
  }
  template <PassKind kind, auto variant>
  constexpr ConvolutionGeometry sizes(Shape const& in) const
      requires(kind != PassKind::stream && variant != ConvolutionKind::volume) {
    return geometry(in);
  }
  template <class Backend>
  constexpr Index scratch(Shape const& in, Extent extent) const {
    return Backend::convolution_scratch(geometry(in), extent);
  }
  __attribute__((always_inline)) constexpr void forward(auto const& backend, auto const& pass) const {
    auto const* const biases = has_bias ? pass.p[1] : nullptr;
    if constexpr (is_signal<std::remove_cvref_t<decltype(pass.x)>>) {
      backend.convolve(geometry_in(backend, pass), pass.x, pass.p[0], biases, pass.y, pass.post_ops, pass.most);
    } else {
      backend.convolve(geometry_in(backend, pass), pass.x, pass.p[0], biases, pass.y, pass.post_ops, pass.state,
                       pass.windows);
    }
  }
  constexpr void backward_input(auto const& backend, auto const& pass) const {
    backend.convolve_input_gradient(geometry_in(backend, pass), pass.dy, pass.p[0], pass.dx, pass.derivative,
                                    pass.windows);
  }
  constexpr void backward_parameters(auto const& backend, auto const& pass) const {
    auto const weights = pass.sinks[0], biases = pass.sinks[has_bias ? 1 : 0];
    backend.convolve_parameter_gradients(geometry_in(backend, pass), pass.x, pass.dy, weights,
                                         has_bias ? &biases : nullptr, pass.windows);
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
  template <class Backend, class Pass>
  __attribute__((always_inline)) constexpr auto geometry_in(Backend const&, Pass const& pass) const {
    if constexpr (std::is_same_v<typename Pass::Variant, NoVariant> && many_threads<Backend>) {
      // On a GPU, volumes have their own kernels, which are a variant.
      return kind_of(pass.in) == ConvolutionKind::sequence
                 ? ConvolutionGeometry{of_kind<ConvolutionKind::sequence>(pass.in)}
                 : ConvolutionGeometry{of_kind<ConvolutionKind::image>(pass.in)};
    } else if constexpr (std::is_same_v<typename Pass::Variant, NoVariant>) {
      return geometry(pass.in);
    } else if constexpr (requires { Pass::Variant::sizes; }) {
      constexpr ConvolutionKind kind = Pass::Variant::value;
      return ConvolutionAmong<kind, Pass::Variant::sizes>{of_kind<kind>(pass.in)};
    } else if constexpr (std::is_same_v<typename Pass::Variant::value_type, ConvolutionKind>) {
      return of_kind<Pass::Variant::value>(pass.in);
    } else if constexpr (Pass::Variant::value.is_volume()) {
      return of_kind<ConvolutionKind::volume>(pass.in);
    } else {
      return KnownConvolution<Pass::Variant::value>{};
    }
  }
  constexpr bool comes_in_parts(Shape const& in) const { return in.rank() < 3 && stride == 1 && causal && !same; }
};

}  // namespace coldpress

COLDPRESS_FIELDS(coldpress::Convolution, num_output, filter_shape, stride, padding, padding_after, same, causal,
                 dilation, groups, has_bias, weight, bias);
