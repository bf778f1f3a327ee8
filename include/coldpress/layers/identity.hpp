// The layer Identity: its input under another name.
#pragma once

#include <coldpress/core/layer.hpp>

namespace coldpress {

/// The input, under a name of its own.
struct Identity {
  static constexpr std::string_view name = "identity";
  static constexpr Capabilities capabilities{.is_view = true};

  constexpr Shape output_shape(Shape const& in) const { return in; }
  bool operator==(Identity const&) const = default;
};

}  // namespace coldpress

COLDPRESS_FIELDS(coldpress::Identity);
