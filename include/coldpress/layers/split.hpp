// The layer Split: its input under several names.
#pragma once

#include <coldpress/core/layer.hpp>

namespace coldpress {

/// The input under other names: in a config, one name per output (Mocha's SplitLayer). Nothing is copied, and the
/// gradient is the sum over all uses. Any value may also be used several times without this layer.
struct Split {
  static constexpr std::string_view name = "split";
  static constexpr Capabilities capabilities{.is_view = true};

  constexpr Shape output_shape(Shape const& in) const { return in; }
  bool operator==(Split const&) const = default;
};

}  // namespace coldpress

COLDPRESS_FIELDS(coldpress::Split);
