#pragma once

#include <coldpress/core/layer.hpp>

namespace coldpress {

/// The same values as one row.
struct Flatten {
  static constexpr std::string_view name = "flatten";
  static constexpr Capabilities capabilities{.is_view = true};

  constexpr Shape output_shape(Shape const& in) const { return {in.size()}; }
  bool operator==(Flatten const&) const = default;
};

}  // namespace coldpress

COLDPRESS_FIELDS(coldpress::Flatten);
