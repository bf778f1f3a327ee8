// Enumerations as text.
#pragma once

// Each enumeration has one table beside it, which files, configs, messages and commands share.

#include <array>
#include <optional>
#include <string>
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
inline std::string to_string(Spelled auto value) { return std::string{spelling(value)}; }
/// The enumerator with this text, or nothing.
template <Spelled Enum>
constexpr std::optional<Enum> enumerator(std::string_view text) {
  auto const texts = spellings(Enum{});
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (texts[i] == text) return static_cast<Enum>(i);
  }
  return {};
}

/// Texts with commas in between: "a, b, c".
template <class Texts>
std::string joined(Texts const& texts) {
  std::string all;
  for (auto const& text : texts) all.append(all.empty() ? "" : ", ").append(text);
  return all;
}

}  // namespace coldpress
