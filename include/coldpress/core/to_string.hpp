// Values of the core as std::string. This is a header of its own because programs that only declare and run networks
// as types do without <string>, which takes the compiler longer than most of coldpress's headers.
#pragma once

#include <coldpress/core/shape.hpp>
#include <coldpress/core/spelling.hpp>

#include <string>

namespace coldpress {

/// {1, 28, 28}
inline std::string to_string(Shape const& shape) {
  std::string text;
  append(text, shape);
  return text;
}
/// A list of numbers as it is written in a type: {2, 1}, or 2 if it is one number.
inline std::string to_string(NumberList auto const& list) {
  std::string text;
  for (int k = 0; k < list.count; ++k) text.append(k ? ", " : "").append(std::to_string(list.data()[k]));
  return list.count == 1 ? text : "{" + text + "}";
}
/// The text of an enumerator.
inline std::string to_string(Spelled auto value) { return std::string{spelling(value)}; }

}  // namespace coldpress
