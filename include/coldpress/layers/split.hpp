#pragma once

#include <coldpress/core/layer.hpp>

namespace coldpress {

/// Its input under other names: in a config, one for each of its outputs (Mocha's SplitLayer). Nothing is copied, and
/// the gradient is the sum of all uses, which any value may have without it.
struct Split {
  static constexpr std::string_view name = "split";
  static constexpr Capabilities capabilities{.is_view = true};

  constexpr Shape output_shape(Shape const& in) const { return in; }
  bool operator==(Split const&) const = default;
};

}  // namespace coldpress

COLDPRESS_FIELDS(coldpress::Split);
