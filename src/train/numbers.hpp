// Numbers as text, independent of the locale.
#pragma once

#include <array>
#include <charconv>
#include <string>

namespace coldpress::train::detail {

/// The shortest text that is read back as the same number.
inline std::string exact(double value) {
  std::array<char, 32> text;
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr};
}
/// Like printf's %.{digits}g.
inline std::string rounded(double value, int digits = 4) {
  std::array<char, 64> text;
  return {text.data(),
          std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::general, digits).ptr};
}
/// Like printf's %.{digits}f, for values below 1e20.
inline std::string fixed(double value, int digits) {
  std::array<char, 64> text;
  return {text.data(),
          std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed, digits).ptr};
}

}  // namespace coldpress::train::detail
