// Extents that a file promises, checked before anything is allocated.
#pragma once

#include "source.hpp"

#include <coldpress/core/shape.hpp>

#include <algorithm>
#include <optional>
#include <vector>

namespace coldpress::data {

/// The product of `extents`, or nothing where one is negative or the product is more than `most`.
inline std::optional<std::uint64_t> count(std::span<Index const> extents, std::uint64_t most) {
  if (std::ranges::any_of(extents, [](Index extent) { return extent < 0; })) return {};
  // However large the others are.
  if (std::ranges::count(extents, 0) > 0) return 0;
  std::uint64_t product = 1;
  for (Index const extent : extents) {
    if (static_cast<std::uint64_t>(extent) > most / product) return {};
    product *= static_cast<std::uint64_t>(extent);
  }
  return product <= most ? std::optional{product} : std::nullopt;
}

inline std::string list(std::span<Index const> extents) {
  std::string text;
  for (Index const extent : extents) text += (text.empty() ? "" : ", ") + std::to_string(extent);
  return text;
}

/// Number of values of `width` bytes that a header promises. Throws FormatError where the file cannot hold that many.
inline std::size_t promised_values(Source const& source, std::span<Index const> extents, std::uint64_t width) {
  auto const values = count(extents, source.most_left() / width);
  if (!values)
    source.malformed("the header promises {" + list(extents) + "} values, more than the file can hold" +
                     source.limit());
  return *values;
}

/// Makes room for `more` values behind the `done` ones: in a plain file, which is long enough, for all that the header
/// promises; else as they come.
template <class Value>
void make_room(std::vector<Value>& values, Source const& source, std::size_t promised, std::size_t done,
               std::size_t more) {
  if (values.size() < done + more)
    values.resize(source.compressed() ? std::min(promised, std::max(done + more, 2 * done)) : promised);
}

/// Throws FormatError where the file goes on.
inline void expect_end(Source& source) {
  std::byte extra[1];
  if (source.read(extra) != 0) source.malformed("goes on after the values that the header promises");
}

}  // namespace coldpress::data
