// The layer Pooling: maxima or means under a window of images or volumes.
#pragma once

#include <coldpress/core/geometry.hpp>
#include <coldpress/core/layer.hpp>

namespace coldpress {

/// The largest or the mean value under a window that slides over each channel of images {channels, height, width}, or
/// of volumes {channels, depth, height, width}. The first of equal maxima counts, in row-major order, and a NaN is
/// larger than anything. A mean is taken over the values under the window or, with `count_padding`, over the whole
/// window, as if the input were surrounded by zeros. `padding`, `padding_after` and `same` are those of a Convolution.
struct Pooling {
  static constexpr std::string_view name = "pooling";
  PoolingMode mode = PoolingMode::max;
  PerAxis filter_shape = 0;
  PerAxis stride = 1;
  PerAxis padding = 0;
  PerAxis padding_after = PerAxis::none();
  bool same = false;
  Rounding rounding = Rounding::floor;  // of the output's extents; floor as in Juice, Mocha and Caffe round up
  bool count_padding = false;

  template <class Needs = Require>
  constexpr PoolingGeometry geometry(Shape const& in, Needs require = {}) const {
    int const axes = in.rank() - 1;
    require((mode == PoolingMode::max || mode == PoolingMode::average) &&
                (rounding == Rounding::floor || rounding == Rounding::ceil),
            "pooling: an enumerator is not one of its type");
    require(in.size() > 0 && (axes == 2 || axes == 3),
            "pooling: the input must be {channels, height, width} or {channels, depth, height, width}");
    require(filter_shape.count <= axes && stride.count <= axes && padding.count <= axes && padding_after.count <= axes,
            "pooling: a field has more numbers than the input has axes");
    require(!same || (padding == 0 && padding_after.count == 0 && rounding == Rounding::floor),
            "pooling: with same = true, padding and rounding follow from the extents and must not be given");
    if (require.failed()) return {};
    PoolingGeometry g{in[0], {}, {}, {}, mode, count_padding};
    Index taps = 1;
    auto const window = [&](int axis) {
      Index const filter = filter_shape[axis], zeros = padding[axis],
                  after = (padding_after.count > 0 ? padding_after : padding)[axis];
      Axis const made = same ? make_same_axis(in[1 + axis], filter, stride[axis], 1, require)
                             : make_axis(in[1 + axis], filter, stride[axis], zeros, after, 1, rounding, require);
      require(zeros < filter && after < filter,
              "pooling: padding must be less than the filter, so that each window has a value");
      require(filter <= (Index{1} << 30) / taps, "pooling: a window has more than 2^30 values");
      taps *= filter;
      return made;
    };
    if (axes == 3) g.depth = window(0);
    g.height = window(axes - 2);
    g.width = window(axes - 1);
    return g;
  }
  template <class Needs = Require>
  constexpr Shape output_shape(Shape const& in, Needs require = {}) const {
    PoolingGeometry const g = geometry(in, require);
    if (require.failed()) return in;
    return in.rank() == 3 ? Shape{g.planes, g.height.out, g.width.out}
                          : Shape{g.planes, g.depth.out, g.height.out, g.width.out};
  }
  constexpr Index memory(Shape const& in) const {  // the tap of its window that each output came from
    return mode == PoolingMode::max ? output_shape(in).size() : 0;
  }

  template <class Backend>
  constexpr Index scratch(Shape const& in, Extent extent) const {
    return extent.workers * Backend::pooling_scratch(geometry(in));
  }
  constexpr void forward(auto const& backend, auto const& pass) const {
    backend.pool(geometry(pass.in), pass.x, pass.y, pass.post_ops, pass.memory);
  }
  constexpr void backward_input(auto const& backend, auto const& pass) const {
    backend.pool_gradient(geometry(pass.in), pass.dy, pass.memory, pass.dx, pass.derivative);
  }
  static constexpr Capabilities capabilities{
      .backward_reads_input = false, .backward_reads_output = false, .fuses = true};
  constexpr InputCapabilities capabilities_for(Shape const& in) const {
    PoolingGeometry const g = geometry(in);
    return {.image_blocks = true,
            .image_maxima = mode == PoolingMode::max && in.rank() == 3,
            .disjoint_windows = g.height.stride >= g.height.filter && g.width.stride >= g.width.filter};
  }
  bool operator==(Pooling const&) const = default;
};

}  // namespace coldpress

COLDPRESS_FIELDS(coldpress::Pooling, mode, filter_shape, stride, padding, padding_after, same, rounding, count_padding);
