#pragma once

#include <coldpress/core/layer.hpp>

#include <algorithm>
#include <array>

namespace coldpress {

/// Which neighbours of a value local response normalisation counts: those in other channels, or in its own.
enum class LRNMode { across, within };
constexpr auto spellings(LRNMode) { return std::array<std::string_view, 2>{"across", "within"}; }

/// Local response normalisation (Krizhevsky, Sutskever and Hinton 2012): y = x / s^power with s = shift + scale / n Σ
/// x² over the n values of a window around x, and zeros around the input. Across channels, the first axis of samples
/// {C, ...}, a window has n = size values, of an even number one more after x than before it; within a channel of
/// {C, height, width} it is a square of size by size values.
struct LRN {
  static constexpr std::string_view name = "lrn";
  Index size = 5;
  float scale = 1, shift = 1, power = 0.75f;
  LRNMode mode = LRNMode::across;

  constexpr Shape output_shape(Shape in) const {
    require(in.size() > 0, "lrn: the input has no values");
    require(size >= 1 && size <= Index{1} << 20, "lrn: size must be from 1 to 2^20");
    require(mode == LRNMode::across || mode == LRNMode::within, "lrn: mode is none of its type");
    require(mode == LRNMode::across || (in.rank() == 3 && size % 2 == 1),
            "lrn: within channels size must be odd, and the input {channels, height, width}");
    require(shift > 0 && scale >= 0, "lrn: shift must be above 0, and scale not below it");
    return in;
  }
  constexpr Index memory(Shape in) const { return in.size(); }  // s

  template <class Backend>
  constexpr Index scratch(Shape in, Extent extent) const {
    return extent.input_gradient ? 2 * in.size() : 0;
  }
  void forward(auto const&, auto const& pass) const {
    using T = typename decltype(pass.x)::Scalar;
    Window const window{*this, pass.in};
    Index const values = pass.in.size();
    T const share = static_cast<T>(scale) / static_cast<T>(window.size());
    for (Index n = 0; n < pass.x.rows; ++n) {
      T const* const x = pass.x.row(n);
      T* const s = pass.memory + n * values;
      window.sum(s, 1, [&](Index i) { return x[i] * x[i]; });
      for (Index i = 0; i < values; ++i) {
        s[i] = static_cast<T>(shift) + share * s[i];
        pass.y.row(n)[i] = x[i] * inverse_power(s[i]);
      }
    }
  }
  /// dx = dy / s^power - 2 power scale / n x Σ dy x / s^(power + 1), over the windows that x is in.
  void backward_input(auto const& backend, auto const& pass) const {
    using T = typename decltype(pass.dx)::Scalar;
    Window const window{*this, pass.in};
    Index const values = pass.in.size();
    T const share = 2 * static_cast<T>(power) * static_cast<T>(scale) / static_cast<T>(window.size());
    T *const part = backend.scratch, *const total = part + values;
    for (Index n = 0; n < pass.dx.rows; ++n) {
      T const *const x = pass.x.row(n), *const s = pass.memory + n * values, *const dy = pass.dy.row(n);
      T* const dx = pass.dx.row(n);
      for (Index i = 0; i < values; ++i) {
        dx[i] = dy[i] * inverse_power(s[i]);
        part[i] = dx[i] * x[i] / s[i];
      }
      window.sum(total, -1, [&](Index i) { return part[i]; });
      for (Index i = 0; i < values; ++i) dx[i] -= share * x[i] * total[i];
    }
  }
  static constexpr bool backward_reads_input = true, backward_reads_output = false;
  bool operator==(LRN const&) const = default;

 private:
  /// A sample as {channels, rows, columns}, and how far a window reaches along each of them.
  struct Window {
    Index extents[3], before[3], after[3];

    Window(LRN const& lrn, Shape in) : extents{in[0], 1, in.size() / in[0]}, before{}, after{} {
      bool const within = lrn.mode == LRNMode::within;
      if (within) extents[1] = in[1], extents[2] = in[2];
      for (int axis : {0, 1, 2}) {
        if (within == (axis > 0)) before[axis] = (lrn.size - 1) / 2, after[axis] = lrn.size / 2;
      }
    }
    Index size() const {
      Index n = 1;
      for (int axis : {0, 1, 2}) n *= before[axis] + 1 + after[axis];
      return n;
    }
    /// to = the sum of f(place) over the window around each place; where `direction` is -1, over the places whose
    /// window it is in.
    template <class T, class F>
    void sum(T* to, Index direction, F f) const {
      auto const* const first = direction > 0 ? before : after;
      auto const* const last = direction > 0 ? after : before;
      auto const range = [&](int axis, Index at, auto g) {
        Index const from = std::max<Index>(0, at - first[axis]), end = std::min(extents[axis], at + last[axis] + 1);
        for (Index i = from; i < end; ++i) g(i);
      };
      Index const width = extents[2];
      for (Index c = 0; c < extents[0]; ++c) {
        for (Index i = 0; i < extents[1]; ++i, to += width) {
          std::fill_n(to, width, T{});
          range(0, c, [&](Index d) {
            range(1, i, [&](Index j) {
              Index const row = (d * extents[1] + j) * width;
              for (Index shift = -first[2]; shift <= last[2]; ++shift) {
                Index const end = std::min(width, width - shift);
                for (Index k = std::max<Index>(0, -shift); k < end; ++k) to[k] += f(row + k + shift);
              }
            });
          });
        }
      }
    }
  };
  /// Powers by exponential and logarithm: a compiler would turn pow into something else where it knows the exponent.
  template <class T>
  T inverse_power(T s) const {
    if (power == 0.75f) {
      T const root = Math<T>::sqrt(s);
      return 1 / (root * Math<T>::sqrt(root));
    }
    return Math<T>::exp(-static_cast<T>(power) * std::log(s));
  }
};

}  // namespace coldpress

BOOST_HANA_ADAPT_STRUCT(coldpress::LRN, size, scale, shift, power, mode);
