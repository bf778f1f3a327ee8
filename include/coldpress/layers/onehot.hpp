// The layer Onehot: class numbers as one-hot vectors.
#pragma once

#include <coldpress/core/along.hpp>
#include <coldpress/core/each.hpp>
#include <coldpress/core/layer.hpp>

#include <limits>

namespace coldpress {

/// Class numbers, 0 to num_classes - 1, become one-hot vectors: the extent of the axis changes from 1 to num_classes,
/// and the value at the class number is 1, the others are 0. If a value is not a class number, all of them are NaN. No
/// gradient passes through the layer.
struct Onehot {
  static constexpr std::string_view name = "onehot";
  Index num_classes = 10;
  int axis = 0;

  template <class Needs = Require>
  constexpr Shape output_shape(Shape const& in, Needs require = {}) const {
    require(num_classes >= 1 && num_classes <= Index{1} << 24, "onehot: num_classes must be from 1 to 2^24");
    require(in[axis_of(in, axis, require)] == 1, "onehot: the axis must have one value, the number of a class");
    return with_extent(in, axis, num_classes);
  }

  constexpr void forward(auto const& backend, auto const& pass) const {
    using T = typename decltype(pass.y)::Scalar;
    Along const a{output_shape(pass.in), axis};
    each_part(backend, pass.y, a.lines(), [&](Index n, Index first, Index last) {
      for (Index line = first; line < last; ++line) {
        T const label = pass.x.row(n)[line];
        T* const y = pass.y.row(n) + a.line(line);
        bool const known = is_label(label, num_classes);
        for (Index k = 0; k < a.extent; ++k)
          y[k * a.inner] = !known ? std::numeric_limits<T>::quiet_NaN() : T(static_cast<T>(k) == label);
      }
    });
  }
  static constexpr Capabilities capabilities{.backward_reads_input = false, .backward_reads_output = false};
  constexpr InputCapabilities capabilities_for(Shape const& in) const {
    return {.streaming = streams_if(keeps_steps(in, axis))};
  }
  bool operator==(Onehot const&) const = default;
};

}  // namespace coldpress

COLDPRESS_FIELDS(coldpress::Onehot, num_classes, axis);
