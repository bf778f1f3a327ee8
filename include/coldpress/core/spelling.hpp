// Enumerations as text. Each has one table, beside it, which files, configs, messages and commands share.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <type_traits>

namespace coldpress {

/// An enumeration from 0 with `constexpr auto spellings(Enum)`, the texts of its enumerators in their order, beside it.
template <class Enum>
concept Spelled = std::is_enum_v<Enum> && requires(Enum value) {
  spellings(value);
};

/// The text of an enumerator.
constexpr std::string_view spelling(Spelled auto value) { return spellings(value)[static_cast<std::size_t>(value)]; }
inline std::string to_string(Spelled auto value) { return std::string{spelling(value)}; }

}  // namespace coldpress
