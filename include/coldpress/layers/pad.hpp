// The layer Pad: adds values around samples.
#pragma once

#include <coldpress/core/along.hpp>
#include <coldpress/core/each.hpp>
#include <coldpress/core/freestanding.hpp>
#include <coldpress/core/geometry.hpp>
#include <coldpress/core/layer.hpp>

namespace coldpress {

/// What is added: a constant, the sample mirrored at its first and last value, which are not repeated, or these values.
enum class PadMode { constant, reflect, replicate };
constexpr auto spellings(PadMode) { return std::array<std::string_view, 3>{"constant", "reflect", "replicate"}; }

/// Adds `before` values in front of a sample and `after` values behind it, along each axis from `axis` on, of which
/// there may be three: one number for all, or one for each. For an image {channels, height, width}, before = {1, 2}
/// adds one row above and two columns on the left. PyTorch's functional.pad.
struct Pad {
  static constexpr std::string_view name = "pad";
  PadMode mode = PadMode::constant;
  int axis = 1;
  PerAxis before = 0, after = 0;
  float value = 0;  // the constant

  template <class Needs = Require>
  constexpr Shape output_shape(Shape const& in, Needs require = {}) const {
    require(mode >= PadMode::constant && mode <= PadMode::replicate, "pad: mode is not one of its type");
    require(is_finite(value), "pad: value must be a finite number");
    int const first = axis_of(in, axis, require), count = in.rank() - first;
    require(count <= PerAxis::max, "pad: axis must be one of the last three");
    require((before.count == 1 || before.count == count) && (after.count == 1 || after.count == count),
            "pad: before and after are one number, or one for each axis from axis on");
    if (require.failed()) return in;
    Shape out = in;
    for (int a = 0; a < count; ++a) {
      Index const extent = in[first + a], least = before[a] < after[a] ? before[a] : after[a],
                  most = before[a] < after[a] ? after[a] : before[a];
      require(least >= 0 && most <= Index{1} << 30, "pad: before and after must be from 0 to 2^30");
      require(mode != PadMode::reflect || most < extent, "pad: reflect adds fewer values than the axis has");
      if (require.failed()) return in;
      out.extents[first + a] = before[a] + extent + after[a];
    }
    require(out.size() > 0, "pad: the output has no values");
    return out;
  }

  constexpr void forward(auto const& backend, auto const& pass) const {
    using T = typename decltype(pass.x)::Scalar;
    Volume const v{*this, pass.in};
    each_part(backend, pass.y, pass.y.columns, [&](Index n, auto first, Index last) {
      each_run(first, last, v.line.out(), [&](Index number, auto begin, Index end) {
        T* const y = pass.y.row(n) + number * v.line.out();
        Index const row = source(v.rows, number % v.rows.out()),
                    plane = source(v.planes, number / v.rows.out() % v.planes.out()),
                    outer = number / (v.rows.out() * v.planes.out());
        if (row < 0 || plane < 0) return freestanding::fill_n(y + begin, end - begin, static_cast<T>(value));
        T const* const x = pass.x.row(n) + v.place(outer, plane, row);
        Index const left = freestanding::within<Index>(v.line.before, begin, end),
                    right = freestanding::within<Index>(v.line.before + v.line.in, left, end);
        auto const add = [&](Index from, Index to) {
          for (Index j = from; j < to; ++j) {
            Index const at = source(v.line, j);
            y[j] = at < 0 ? static_cast<T>(value) : x[at];
          }
        };
        add(begin, left);
        for (Index j = left; j < right; ++j) y[j] = x[j - v.line.before];
        add(right, end);
      });
    });
  }
  /// The gradient of a value is the sum of those of its copies.
  constexpr void backward_input(auto const& backend, auto const& pass) const {
    using T = typename decltype(pass.dx)::Scalar;
    Volume const v{*this, pass.in};
    each_part(backend, pass.dx, pass.dx.columns, [&](Index n, auto first, Index last) {
      each_run(first, last, v.line.in, [&](Index number, auto begin, Index end) {
        T* const dx = pass.dx.row(n) + number * v.line.in;
        freestanding::fill_n(dx + begin, end - begin, T{});
        Index const outer = number / (v.rows.in * v.planes.in);
        each_copy(v.planes, number / v.rows.in % v.planes.in, [&](Index plane) {
          each_copy(v.rows, number % v.rows.in, [&](Index row) {
            Index const line = (outer * v.planes.out() + plane) * v.rows.out() + row;
            T const* const dy = pass.dy.row(n) + line * v.line.out() + v.line.before;
            for (Index i = begin; i < end; ++i) dx[i] += dy[i];
            auto const add = [&](Index j) {
              Index const i = source(v.line, j + v.line.before);
              if (i >= begin && i < end) dx[i] += dy[j];
            };
            if (mode == PadMode::constant) return;
            for (Index j = -v.line.before; j < 0; ++j) add(j);
            for (Index j = v.line.in; j < v.line.in + v.line.after; ++j) add(j);
          });
        });
      });
    });
  }
  static constexpr Capabilities capabilities{
      .backward_reads_input = false, .backward_reads_output = false, .loops = true};
  constexpr InputCapabilities capabilities_for(Shape const& in) const {
    return {.streaming = keeps_steps(in, axis) ? StreamSupport::always : StreamSupport::never};
  }
  bool operator==(Pad const&) const = default;

 private:
  struct Padded {
    Index in = 1, before = 0, after = 0;
    constexpr Index out() const { return before + in + after; }
  };
  /// A sample as {outer, planes, rows, values of a line}, of which the last three may be padded.
  struct Volume {
    Padded planes, rows, line;

    constexpr Volume(Pad const& pad, Shape const& in) {
      int const first = axis_of(in, pad.axis);
      for (int a = first; a < in.rank(); ++a)
        planes = rows, rows = line, line = {in[a], pad.before[a - first], pad.after[a - first]};
    }
    constexpr Index place(Index outer, Index plane, Index row) const {
      return ((outer * planes.in + plane) * rows.in + row) * line.in;
    }
  };
  /// The place in the input whose value is at a place of the output; negative: the constant is.
  constexpr Index source(Padded const& of, Index place) const {
    Index const at = place - of.before;
    if (at >= 0 && at < of.in) return at;
    if (mode == PadMode::constant) return -1;
    if (mode == PadMode::replicate) return at < 0 ? 0 : of.in - 1;
    return at < 0 ? -at : 2 * (of.in - 1) - at;
  }
  /// f(place in the output) for each copy of the value at a place of the input.
  template <class F>
  constexpr void each_copy(Padded const& of, Index place, F const& f) const {
    if (mode != PadMode::constant) {
      for (Index j = 0; j < of.before; ++j)
        if (source(of, j) == place) f(j);
    }
    f(of.before + place);
    if (mode != PadMode::constant) {
      for (Index j = of.before + of.in; j < of.out(); ++j)
        if (source(of, j) == place) f(j);
    }
  }
};

}  // namespace coldpress

COLDPRESS_FIELDS(coldpress::Pad, mode, axis, before, after, value);
