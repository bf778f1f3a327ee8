// Names that the compiler makes and compares.
#pragma once

#include <coldpress/core/digits.hpp>
#include <coldpress/core/shape.hpp>

#include <string_view>

namespace coldpress {

/// The name of a layer, which is given or made of its type's name and a running number, or of one of its weights, which
/// is the layer's name with a suffix.
struct Name {
  static constexpr int most = 47;      // characters in a layer's name
  static constexpr int capacity = 79;  // including the suffix, such as "-0-variance"
  char text[capacity + 1] = {};
  int length = 0;

  constexpr Name() = default;
  constexpr explicit Name(std::string_view s) {
    require(s.size() <= most, "name: a layer's name may have at most 47 characters");
    append(s);
  }
  constexpr void append(std::string_view s) {
    require(length + static_cast<int>(s.size()) <= capacity,
            "name: a weight's name may have at most 79 characters, 47 of them its layer's");
    for (char c : s) text[length++] = c;
  }
  constexpr std::string_view view() const { return {text, static_cast<std::size_t>(length)}; }
  constexpr operator std::string_view() const { return view(); }
};

/// A short string as a template argument.
template <std::size_t n>
struct FixedString {
  char text[n];
  constexpr FixedString(char const (&literal)[n]) {
    for (std::size_t i = 0; i < n; ++i) text[i] = literal[i];
  }
  constexpr std::string_view view() const { return {text, n - 1}; }
};

}  // namespace coldpress
