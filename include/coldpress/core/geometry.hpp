// Windows that slide over samples: the parameters for each axis, and the shapes that result.
#pragma once

// Layers and all backends share them.

#include <coldpress/core/freestanding.hpp>
#include <coldpress/core/shape.hpp>
#include <coldpress/core/spelling.hpp>

namespace coldpress {

/// One number for all axes, or one per axis in the order of the shape: `.stride = 2` or `.stride = {2, 1}`. Values with
/// the same meaning are equal: {2, 2} equals 2.
struct PerAxis {
  static constexpr int max = 3;
  static constexpr std::string_view takes = "integer, or one for each axis", limit = "axes are possible";
  Index values[max];
  int count;  // 1: the same number for all axes

  constexpr PerAxis(Index all = 0) : values{all, all, all}, count(1) {}
  constexpr PerAxis(Index first, Index second) : PerAxis(first, second, second, 2) {}
  constexpr PerAxis(Index first, Index second, Index third) : PerAxis(first, second, third, 3) {}
  /// Constructs it from its members. nvcc writes template arguments in this form.
  constexpr PerAxis(Index const (&all)[max], int stated) : values{all[0], all[1], all[2]}, count(stated) {}
  static constexpr PerAxis of(Index const* all, int count) { return {all[0], all[count > 1], all[count - 1], count}; }

  constexpr Index operator[](int axis) const { return values[axis]; }
  constexpr Index const* data() const { return values; }
  bool operator==(PerAxis const&) const = default;

  /// No numbers. A layer that has this as a default says what it means.
  static constexpr PerAxis none() {
    PerAxis numbers;
    return numbers.count = 0, numbers;
  }

 private:
  constexpr PerAxis(Index first, Index second, Index third, int stated)
      : values{first, second, third}, count(first == second && second == third ? 1 : stated) {}
};

/// What happens to a last window that the input does not fill: it is left out (floor), or cut off at the edge (ceil).
enum class Rounding { floor, ceil };
enum class PoolingMode { max, average };
constexpr auto spellings(Rounding) { return std::array<std::string_view, 2>{"floor", "ceil"}; }
constexpr auto spellings(PoolingMode) { return std::array<std::string_view, 2>{"max", "average"}; }

/// A window along one axis. Tap `tap` of output `output` reads input output * stride + tap * dilation - padding.
struct Axis {
  Index in = 1, out = 1, filter = 1, stride = 1, padding = 0, dilation = 1;

  constexpr Index at(Index output, Index tap) const { return output * stride + tap * dilation - padding; }
  bool operator==(Axis const&) const = default;
  /// Whether each output sees the input at its own place, and nothing else.
  constexpr bool sees_one() const { return filter == 1 && stride == 1 && padding == 0 && in == out; }
  /// The number of zeros after the input that the last window sees.
  constexpr Index padding_after() const { return freestanding::max<Index>(0, at(out - 1, filter - 1) + 1 - in); }
  /// The output that reads the input `at` through a tap; negative if there is none.
  constexpr Index output(Index at, Index tap) const {
    Index const shifted = at + padding - tap * dilation;
    return shifted < 0 || shifted % stride != 0 || shifted / stride >= out ? -1 : shifted / stride;
  }
  /// The range [first, last) of the outputs for which a tap reads the input and not the padding.
  constexpr Index first(Index tap) const { return outputs_below(padding - tap * dilation); }
  constexpr Index last(Index tap) const { return outputs_below(in + padding - tap * dilation); }

 private:
  constexpr Index outputs_below(Index end) const {
    return end <= 0 ? 0 : freestanding::min(out, stride == 1 ? end : (end + stride - 1) / stride);
  }
};

/// Whether a window has a size, a stride and a dilation that make sense.
template <class Needs>
constexpr void check_window(Index filter, Index stride, Index dilation, Needs require) {
  constexpr Index most = Index{1} << 30;
  require(filter >= 1 && filter <= most, "window: filter_shape must be from 1 to 2^30 on every axis");
  require(stride >= 1 && stride <= most, "window: stride must be from 1 to 2^30");
  require(dilation >= 1 && dilation <= most, "window: dilation must be from 1 to 2^30");
}

/// Makes an Axis and checks it. `before` and `after` are the numbers of zeros on both sides of the input. With
/// Rounding::ceil the last window must still begin inside the input or the padding before it (Caffe's rule).
template <class Needs = Require>
constexpr Axis make_axis(Index in, Index filter, Index stride, Index before, Index after, Index dilation,
                         Rounding rounding = Rounding::floor, Needs require = {}) {
  constexpr Index most = Index{1} << 60;  // a sequence may have as many zeros as its filter reaches back
  check_window(filter, stride, dilation, require);
  require(before >= 0 && before <= most && after >= 0 && after <= most, "window: padding must be from 0 to 2^60");
  if (require.failed()) return {};
  Index const room = in + before + after - ((filter - 1) * dilation + 1);
  require(room >= 0, "window: the filter must not be larger than the padded input");
  if (require.failed()) return {};
  Index out = (rounding == Rounding::ceil ? room + stride - 1 : room) / stride + 1;
  while (rounding == Rounding::ceil && (out - 1) * stride >= in + before) --out;
  return {in, out, filter, stride, before, dilation};
}

/// The same with as many zeros as are needed for in / stride outputs, rounded up. Half of them are before the input; if
/// their number is odd, there is one more after it. It is what TensorFlow calls SAME, PyTorch `same`, and ONNX
/// SAME_UPPER.
template <class Needs = Require>
constexpr Axis make_same_axis(Index in, Index filter, Index stride, Index dilation, Needs require = {}) {
  check_window(filter, stride, dilation, require);
  if (require.failed()) return {};
  Index const zeros = freestanding::max<Index>(0, (in - 1) / stride * stride + (filter - 1) * dilation + 1 - in);
  return make_axis(in, filter, stride, zeros / 2, zeros - zeros / 2, dilation, Rounding::floor, require);
}

/// Makes the axis of a convolution whose input gradient is a transposed convolution of `in` values, and checks it:
/// axis.in is the number of values that the latter makes, axis.out is `in`. `more` values are added at the end.
template <class Needs = Require>
constexpr Axis make_transposed_axis(Index in, Index filter, Index stride, Index padding, Index more, Index dilation,
                                    Needs require = {}) {
  check_window(filter, stride, dilation, require);
  require(padding >= 0 && padding <= Index{1} << 30, "window: padding must be from 0 to 2^30");
  require(more >= 0 && (more < stride || more < dilation),
          "window: output_padding must be at least 0, and less than the stride or the dilation");
  if (require.failed()) return {};
  require(in <= (Index{1} << 40) / stride, "window: the output has more than 2^40 values on an axis");
  Index const out = (in - 1) * stride + (filter - 1) * dilation + 1 + more - 2 * padding;
  require(out >= 1, "window: padding must leave at least one value of the output");
  return {out, in, filter, stride, padding, dilation};
}

/// What a convolution is given as a sample: an image {channels, height, width}, a sequence {steps, channels}, or a
/// volume {channels, depth, height, width}.
enum class ConvolutionKind { image, sequence, volume };

/// A convolution of one image or sequence: the steps of a sequence are its height, and its width is 1.
struct ConvolutionGeometry {
  Index channels, outputs, groups;
  Axis height, width;
  ConvolutionKind kind;

  bool operator==(ConvolutionGeometry const&) const = default;
  constexpr bool is_sequence() const { return kind == ConvolutionKind::sequence; }
  constexpr bool is_volume() const { return kind == ConvolutionKind::volume; }
  constexpr Index positions() const { return height.out * width.out; }
  constexpr Index taps() const { return height.filter * width.filter; }
  /// Whether each output sees one place of the input, and each place is seen once.
  constexpr bool sees_one() const { return height.sees_one() && width.sees_one(); }
  constexpr Index group_channels() const { return channels / groups; }
  constexpr Index group_outputs() const { return outputs / groups; }
  /// The shape of the weights. The filters of a sequence have one axis.
  constexpr Shape weight_shape() const {
    return {outputs, group_channels(), height.filter, is_sequence() ? 0 : width.filter};
  }
  /// The number of terms in the sum for one output value.
  constexpr Index terms() const { return group_channels() * taps(); }
  constexpr Index products() const { return terms() * positions() * outputs; }  // multiply-adds per sample
  /// Values per sample, of the input and of the output.
  constexpr Index in() const { return channels * height.in * width.in; }
  constexpr Index out() const { return outputs * positions(); }
  /// Whether blocks of images (core/rows.hpp) are convolved together. They are, unless a block of what is read is too
  /// large for a core's cache: docs/convolution.md has what was measured.
  constexpr bool in_blocks() const {
    return kind == ConvolutionKind::image && in() <= Index{3} << 13 && out() <= Index{1} << 18;
  }
  /// The number of steps before a sequence that still take part in its first output.
  constexpr Index past() const { return height.padding; }
  /// Values per sample that a stream carries to the next call: for each past step its input or the output sums so far,
  /// whichever is more, and the number of the oldest step.
  constexpr Index state() const {
    Index const padded = groups * ((group_outputs() + 15) / 16 * 16);
    return past() == 0 ? 0 : past() * freestanding::max(channels, padded) + 1;
  }
};

/// A convolution of one sample of any kind. Volumes have a depth; that of other samples is 1. Kernels of images and
/// sequences take the base class, so they do not carry it.
struct VolumeGeometry : ConvolutionGeometry {
  Axis depth;

  __attribute__((always_inline)) constexpr VolumeGeometry(ConvolutionGeometry const& plane, Axis const& along = {})
      : ConvolutionGeometry(plane), depth(along) {}
  constexpr Index positions() const { return depth.out * ConvolutionGeometry::positions(); }
  constexpr Index taps() const { return depth.filter * ConvolutionGeometry::taps(); }
  constexpr Index terms() const { return depth.filter * ConvolutionGeometry::terms(); }
  constexpr Index products() const { return depth.out * depth.filter * ConvolutionGeometry::products(); }
  constexpr Index in() const { return depth.in * ConvolutionGeometry::in(); }
  constexpr Index out() const { return depth.out * ConvolutionGeometry::out(); }
  /// The filters of a volume have three axes.
  constexpr Shape weight_shape() const {
    if (is_volume()) return {outputs, group_channels(), depth.filter, height.filter, width.filter};
    return ConvolutionGeometry::weight_shape();
  }
  /// Of a volume: the convolution of images that makes one plane of the output. Its channels are all planes that a
  /// filter sees, {channels, depth.filter}, so its weights are those of the volume as they are.
  constexpr ConvolutionGeometry of_planes() const {
    return {channels * depth.filter, outputs, groups, height, width, ConvolutionKind::image};
  }
  /// Whether there are at most 2^40 values in these planes, for a volume of at most as many.
  constexpr bool has_planes() const { return depth.filter <= (Index{1} << 40) / (channels * height.in * width.in); }
  /// The part of it that sees one plane of each channel, through one tap of the depth.
  constexpr ConvolutionGeometry of_tap() const {
    return {channels, outputs, groups, height, width, ConvolutionKind::image};
  }
};

/// The same, where the compiler knows the kind of its samples, ...
template <ConvolutionKind of_kind>
struct ConvolutionOf : std::conditional_t<of_kind == ConvolutionKind::volume, VolumeGeometry, ConvolutionGeometry> {
  using Kind = std::integral_constant<ConvolutionKind, of_kind>;
};
/// ... and all geometries that it may have, ...
template <ConvolutionKind kind, auto geometries>
struct ConvolutionAmong : ConvolutionOf<kind> {
  static constexpr auto const& all = geometries;
};
/// ... or all of it.
template <ConvolutionGeometry geometry>
struct KnownConvolution : ConvolutionOf<geometry.kind> {
  constexpr KnownConvolution() : ConvolutionOf<geometry.kind>{copy()} {}
  static constexpr ConvolutionGeometry known = geometry;

 private:
  static constexpr ConvolutionGeometry copy() {
    constexpr ConvolutionGeometry constant = geometry;  // nvcc cannot read the argument itself
    return constant;
  }
};

/// Whether a convolution is of this kind, as a constant if the compiler knows. A geometry without a depth is not one of
/// volumes.
template <ConvolutionKind kind, class G>
constexpr auto is_of(G const& g) {
  if constexpr (requires { typename G::Kind; }) {
    return std::bool_constant<G::Kind::value == kind>{};
  } else if constexpr (kind == ConvolutionKind::volume && !std::is_base_of_v<VolumeGeometry, G>) {
    return std::false_type{};
  } else {
    return g.kind == kind;
  }
}

/// A pooling of one sample {planes, depth, height, width}, where depth may be 1.
struct PoolingGeometry {
  Index planes;
  Axis depth, height, width;
  PoolingMode mode;
  bool count_padding;

  constexpr Index in() const { return depth.in * height.in * width.in; }
  constexpr Index out() const { return depth.out * height.out * width.out; }
  constexpr Index taps() const { return depth.filter * height.filter * width.filter; }
};

/// The memory of a value in a stream that is given blocks of up to `most` steps, where layers read its last `past`
/// steps: a ring for each feature, in which step t is at t modulo the size. A block may extend beyond the end of the
/// ring, and the last `most` steps of the ring are repeated before its beginning, so that every window of `most` steps
/// is contiguous.
struct SignalRing {
  Index past, most;

  /// A power of two, with room for the past, a block, and what whole vectors write beyond a block. It is also at least
  /// four times the longest block, since the end of a ring is copied once in each round.
  constexpr Index size() const {
    Index size = 1;
    while (size < past + most + 16 || size < 4 * most) size *= 2;
    return size;
  }
  /// The distance between the rings of two features; not a multiple of 256, after which rings would share cache sets.
  constexpr Index pitch() const {
    Index const all = most + size() + most + 16;
    return all % 256 == 0 ? all + 16 : all;
  }
};

/// A ring buffer of the last steps of a sequence, kept from one call to the next: `steps` steps of `channels` values
/// each, and then the number of the oldest step. All values are zero before the first call.
template <class T>
struct RingBuffer {
  T* values;  // null: there are no earlier steps
  Index steps, channels;

  static constexpr Index size(Index steps, Index channels) { return steps == 0 ? 0 : steps * channels + 1; }
  /// Step t of the past, counted from the start of the next call: -steps <= t < 0.
  constexpr T const* step(Index t) const {
    Index const slot = oldest() + t;
    return values + (slot < 0 ? slot + steps : slot) * channels;
  }
  /// Appends the `count` steps of a call.
  constexpr void append(T const* x, Index count) const {
    Index slot = oldest();
    for (Index t = 0; t < count; ++t, slot = slot + 1 == steps ? 0 : slot + 1) {
      T* const to = values + slot * channels;
      for (Index c = 0; c < channels; ++c) to[c] = x[t * channels + c];
    }
    values[steps * channels] = static_cast<T>(slot);
  }

 private:
  constexpr Index oldest() const { return static_cast<Index>(values[steps * channels]); }
};

}  // namespace coldpress

COLDPRESS_FIELDS(coldpress::PerAxis, values, count);
