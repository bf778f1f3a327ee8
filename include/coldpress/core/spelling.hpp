// Enumerations as text.
#pragma once

// Each enumeration has one table beside it, which files, configs, messages and commands share.

#include <array>
#include <string_view>
#include <type_traits>

namespace coldpress {

/// An enumeration that starts at 0 and has `constexpr auto spellings(Enum)` beside it, the texts of its enumerators in
/// order.
template <class Enum>
concept Spelled = std::is_enum_v<Enum> && requires(Enum value) {
  spellings(value);
};

/// The text of an enumerator.
constexpr std::string_view spelling(Spelled auto value) { return spellings(value)[static_cast<std::size_t>(value)]; }

}  // namespace coldpress
