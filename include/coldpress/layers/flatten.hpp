// The layer Flatten: all values of a sample in one row.
#pragma once

#include <coldpress/core/layer.hpp>

namespace coldpress {

/// The values of a sample as one row, {size}.
struct Flatten {
  static constexpr std::string_view name = "flatten";
  static constexpr Capabilities capabilities{.is_view = true};

  constexpr Shape output_shape(Shape const& in) const { return {in.size()}; }
  bool operator==(Flatten const&) const = default;
};

}  // namespace coldpress

COLDPRESS_FIELDS(coldpress::Flatten);
