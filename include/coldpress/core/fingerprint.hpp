// A number for a value that every compiler makes alike: what stands for a network where its type cannot.
#pragma once

#include <coldpress/core/for_each_field.hpp>
#include <coldpress/core/parameter.hpp>

#include <bit>
#include <cstdint>

namespace coldpress {

/// FNV-1a, word by word (Fowler, Noll and Vo).
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
  /// A number, an enumeration, what has fields, or a list.
  template <class V>
  constexpr Fingerprint& add(V const& value) {
    if constexpr (std::is_same_v<V, float>) {
      word(std::bit_cast<std::uint32_t>(value));
    } else if constexpr (std::is_same_v<V, double>) {
      word(std::bit_cast<std::uint64_t>(value));
    } else if constexpr (std::is_arithmetic_v<V> || std::is_enum_v<V>) {
      word(static_cast<std::uint64_t>(value));
    } else if constexpr (std::is_array_v<V> || requires { value.begin(); }) {
      for (auto const& v : value) add(v);
    } else if constexpr (requires { value.values, value.count; }) {
      add(value.values).add(value.count);  // PerAxis,
    } else if constexpr (requires { value.order, value.count; }) {
      add(value.order).add(value.count);  // Axes,
    } else if constexpr (requires { value.factors, value.count; }) {
      add(value.factors).add(value.count);  // ClassWeights
    } else if constexpr (std::is_same_v<V, Shape>) {
      add(value.extents);
    } else if constexpr (std::is_same_v<V, Weight>) {
      add(value.filler.kind).add(value.filler.a).add(value.filler.b).add(value.lr_mult).add(value.decay_mult);
      add(value.regularizer).add(value.max_norm.norm).add(value.max_norm.every);
    } else {
      for_each_field(value, [&](std::string_view name, auto const& field) { add(name).add(field); });
    }
    return *this;
  }
};

}  // namespace coldpress
