// A hash of a value that is the same with every compiler; it stands for a network where the type cannot.
#pragma once

#include <bit>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace coldpress {

/// The bits of a number.
template <class T>
constexpr std::uint64_t bits_of(T number) {
  if constexpr (std::is_same_v<T, float>) {
    return std::bit_cast<std::uint32_t>(number);
  } else if constexpr (std::is_same_v<T, double>) {
    return std::bit_cast<std::uint64_t>(number);
  } else {
    return static_cast<std::uint64_t>(number);
  }
}

/// FNV-1a (Fowler, Noll and Vo) over 64-bit words.
struct Fingerprint {
  std::uint64_t number = 0xcbf29ce484222325;

  constexpr Fingerprint& word(std::uint64_t w) {
    for (int i = 0; i < 8; ++i) number = (number ^ (w >> (8 * i) & 0xff)) * 0x100000001b3;
    return *this;
  }
  constexpr Fingerprint& add(std::string_view text) {
    for (char c : text) word(static_cast<unsigned char>(c));
    return word(text.size());
  }
  /// Adds a number, an enumeration, a struct with fields, or a list. The caller has to include core/numbers.hpp.
  template <class V>
  constexpr Fingerprint& add(V const& value);

 private:
  constexpr void add_step(std::string_view field) { add(field); }
  constexpr void add_step(std::size_t place) { word(place); }
};

}  // namespace coldpress
