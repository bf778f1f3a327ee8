// The layer Reshape: the same values in another shape.
#pragma once

#include <coldpress/core/layer.hpp>

namespace coldpress {

/// The same values in another shape, which does not include the batch.
struct Reshape {
  static constexpr std::string_view name = "reshape";
  static constexpr Capabilities capabilities{.is_view = true};
  Shape shape;

  template <class Needs = Require>
  constexpr Shape output_shape(Shape const& in, Needs require = {}) const {
    require(shape.size() == in.size(), "reshape: the shapes must have equally many values", shape.size());
    return shape;
  }
  bool operator==(Reshape const&) const = default;
};

}  // namespace coldpress

COLDPRESS_FIELDS(coldpress::Reshape, shape);
