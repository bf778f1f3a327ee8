// Finds the enumerator that a text names, for what reads configs and commands. Network types do not need it.
#pragma once

#include <coldpress/core/spelling.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace coldpress {

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
