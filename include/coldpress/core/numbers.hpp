// Loops over the numbers that a layer, a shape or a list consists of, each with its path.
#pragma once

#include <coldpress/core/fingerprint.hpp>
#include <coldpress/core/for_each_field.hpp>

namespace coldpress {

/// Calls f(number, path...) for each number and enumeration in the value. The path consists of field names and of
/// positions in lists.
template <class V, class F, class... Path>
constexpr void for_each_number(V const& value, F const& f, Path const&... path) {
  auto const field = [&](std::string_view name, auto const& part) { for_each_number(part, f, path..., name); };
  if constexpr (std::is_arithmetic_v<V> || std::is_enum_v<V>) {
    f(value, path...);
  } else if constexpr (std::is_array_v<V> || requires { value.begin(); }) {
    std::size_t place = 0;
    for (auto const& one : value) for_each_number(one, f, path..., place++);
  } else {
    for_each_field(value, field);
  }
}

template <class V>
constexpr Fingerprint& Fingerprint::add(V const& value) {
  for_each_number(value, [&](auto n, auto const&... path) { (add_step(path), ...), word(bits_of(n)); });
  return *this;
}

}  // namespace coldpress
