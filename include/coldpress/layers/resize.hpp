// The layer Resize: scales images and sequences, by their nearest values or by interpolation.
#pragma once

#include <coldpress/core/along.hpp>
#include <coldpress/core/each.hpp>
#include <coldpress/core/freestanding.hpp>
#include <coldpress/core/geometry.hpp>
#include <coldpress/core/layer.hpp>

namespace coldpress {

enum class ResizeMode { nearest, linear };
constexpr auto spellings(ResizeMode) { return std::array<std::string_view, 2>{"nearest", "linear"}; }

/// Scales images {channels, height, width} to another height and width, and sequences {steps, features} to another
/// number of steps: to `size`, or to `factor` times as many values. PyTorch's interpolate: `nearest` takes the value at
/// floor(place in / out) (ONNX: asymmetric, floor); `linear`, which is bilinear for images, interpolates at
/// (place + 1/2) in / out - 1/2 (align_corners = false; ONNX: half_pixel), and does not smooth what becomes smaller.
struct Resize {
  static constexpr std::string_view name = "resize";
  ResizeMode mode = ResizeMode::nearest;
  PerAxis size = 0;  // 0: as the factor says
  PerAxis factor = 1;

  template <class Needs = Require>
  constexpr Shape output_shape(Shape const& in, Needs require = {}) const {
    constexpr Index most = Index{1} << 30;
    int const rank = in.rank(), axes = rank - 1;
    require(mode == ResizeMode::nearest || mode == ResizeMode::linear, "resize: mode is not one of its type");
    require(in.size() > 0 && (rank == 2 || rank == 3),
            "resize: the input must be {channels, height, width}, or a sequence {steps, features}");
    require(size.count <= axes && factor.count <= axes, "resize: a field has more numbers than axes are scaled");
    require(size == 0 || factor == 1, "resize: size and factor are not possible together");
    if (require.failed()) return in;
    Shape out = in;
    for (int a = 0; a < axes; ++a) {
      Index& extent = out.extents[rank == 2 ? 0 : 1 + a];
      require(extent <= most && size[a] >= 0 && size[a] <= most, "resize: size must be from 1 to 2^30");
      require(size == 0 || size[a] >= 1, "resize: size must be given for each axis, or for none");
      require(factor[a] >= 1 && factor[a] <= most / extent, "resize: factor must be from 1 to 2^30 / extent");
      if (require.failed()) return in;
      extent = size == 0 ? extent * factor[a] : size[a];
    }
    require(out.size() > 0, "resize: the output has no values");
    return out;
  }

  constexpr void forward(auto const& backend, auto const& pass) const {
    using T = typename decltype(pass.x)::Scalar;
    Shape const out = output_shape(pass.in);
    Scale const rows = scale(pass.in, out, 0), columns = scale(pass.in, out, 1);
    each_part(backend, pass.y, pass.y.columns, [&](Index n, auto first, Index last) {
      each_run(first, last, columns.out, [&](Index number, auto begin, Index end) {
        T const* const plane = pass.x.row(n) + number / rows.out * rows.in * columns.in;
        T* const y = pass.y.row(n) + number * columns.out;
        Sampler const row{rows, number % rows.out};
        T const *const above = plane + row.low() * columns.in, *const below = plane + row.high() * columns.in;
        T const share = row.template share<T>();
        Sampler column{columns, begin};
        for (Index j = begin; j < end; ++j, column.next()) {
          auto const at = [&](T const* line) {
            return column.share_is_zero() ? line[column.low()]
                                          : mixed(line[column.low()], line[column.high()], column.template share<T>());
          };
          y[j] = row.share_is_zero() ? at(above) : mixed(at(above), at(below), share);
        }
      });
    });
  }
  /// Each value's gradient is the sum of those of the outputs that it takes part in, times its share of them.
  constexpr void backward_input(auto const& backend, auto const& pass) const {
    using T = typename decltype(pass.dx)::Scalar;
    Shape const out = output_shape(pass.in);
    Scale const rows = scale(pass.in, out, 0), columns = scale(pass.in, out, 1);
    each_part(backend, pass.dx, pass.dx.columns, [&](Index n, auto first, Index last) {
      each_run(first, last, columns.in, [&](Index number, auto begin, Index end) {
        Index const i = number % rows.in;
        T const* const plane = pass.dy.row(n) + number / rows.in * rows.out * columns.out;
        T* const dx = pass.dx.row(n) + number * columns.in;
        freestanding::fill_n(dx + begin, end - begin, T{});
        Index const left = columns.first(begin), right = columns.first(end + 1);
        Sampler row{rows, rows.first(i)};
        for (Index k = rows.first(i); k < rows.first(i + 2); ++k, row.next()) {
          T const lower = row.template share<T>(),
                  weight = (row.low() == i ? 1 - lower : T{}) + (row.high() == i ? lower : T{});
          if (weight == 0) continue;
          T const* const dy = plane + k * columns.out;
          auto const add = [&](Index to, T value) {
            if (to >= begin && to < end) dx[to] += value;
          };
          Sampler column{columns, left};
          for (Index j = left; j < right; ++j, column.next()) {
            if (column.share_is_zero()) {
              add(column.low(), weight * dy[j]);
            } else {
              T const share = column.template share<T>();
              add(column.low(), weight * (1 - share) * dy[j]);
              add(column.high(), weight * share * dy[j]);
            }
          }
        }
      });
    });
  }
  static constexpr Capabilities capabilities{
      .backward_reads_input = false, .backward_reads_output = false, .loops = true};
  constexpr InputCapabilities capabilities_for(Shape const&) const { return {.streaming = StreamSupport::never}; }
  bool operator==(Resize const&) const = default;

 private:
  template <class T>
  static constexpr T mixed(T a, T b, T share) {
    return (1 - share) * a + share * b;
  }
  /// An axis: output `place` is at (place * step + shift) / whole of the input. Whole numbers are exact everywhere.
  struct Scale {
    Index in, out, step, shift, whole;
    bool linear;

    /// The first output that is at `place` - 1 of the input or behind it.
    constexpr Index first(Index place) const {
      Index const least = (place - 1) * whole - shift;
      return place <= 0 || least <= 0 ? 0 : freestanding::min(out, (least + step - 1) / step);
    }
  };
  constexpr Scale scale(Shape const& in, Shape const& out, int axis) const {
    int const a = in.rank() == 2 ? axis : 1 + axis;
    Index const from = in[a], to = out[a];
    bool const linear = mode == ResizeMode::linear && from != to;
    return linear ? Scale{from, to, 2 * from, from - to, 2 * to, true} : Scale{from, to, from, 0, to, false};
  }
  /// Goes from one output to the next without divisions.
  class Sampler {
   public:
    constexpr Sampler(Scale const& scale, Index output)
        : scale_(scale), steps_(scale.step / scale.whole), step_(scale.step % scale.whole) {
      Index const at = output * scale.step + scale.shift;
      place_ = at < 0 ? -1 : at / scale.whole;
      rest_ = at - place_ * scale.whole;
    }
    constexpr void next() {
      place_ += steps_, rest_ += step_;
      if (rest_ >= scale_.whole) rest_ -= scale_.whole, ++place_;
    }
    /// The two inputs between which it is, and the share of the second.
    constexpr Index low() const { return place_ < 0 ? 0 : place_; }
    constexpr Index high() const { return freestanding::min(low() + 1, scale_.in - 1); }
    constexpr bool share_is_zero() const { return !scale_.linear || place_ < 0; }
    template <class T>
    constexpr T share() const {
      return share_is_zero() ? T{} : static_cast<T>(rest_) / static_cast<T>(scale_.whole);
    }

   private:
    Scale scale_;
    Index steps_, step_, place_, rest_;
  };
};

}  // namespace coldpress

COLDPRESS_FIELDS(coldpress::Resize, mode, size, factor);
