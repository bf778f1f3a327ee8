// Whole numbers as text, which the compiler can make, too.
#pragma once

#include <string_view>

namespace coldpress {

/// The decimal digits of a whole number.
struct Digits {
  char text[24] = {};
  int first = 24;

  constexpr explicit Digits(long long number) {
    for (long long rest = number; rest != 0 || first == 24; rest /= 10) {
      int const digit = static_cast<int>(rest % 10);
      text[--first] = static_cast<char>('0' + (digit < 0 ? -digit : digit));
    }
    if (number < 0) text[--first] = '-';
  }
  constexpr std::string_view view() const { return {text + first, static_cast<std::size_t>(24 - first)}; }
};

}  // namespace coldpress
