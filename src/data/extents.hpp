// Checks the extents that a file promises before anything is allocated.
#pragma once

#include "input_file.hpp"

#include <coldpress/core/shape.hpp>

#include <algorithm>
#include <optional>
#include <vector>

namespace coldpress::data {

/// The product of `extents`, or nothing if one is negative or the product is more than `most`.
inline std::optional<std::uint64_t> count(std::span<Index const> extents, std::uint64_t most) {
  if (std::ranges::any_of(extents, [](Index extent) { return extent < 0; })) return {};
  // The product is 0 however large the others are.
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

/// The shape of one sample of an array whose first extent is the number of samples; {1} if there is no other. `place`
/// says where in the file the array is. Throws FormatError for an array that is none of samples.
inline Shape sample_shape(std::span<Index const> extents, std::string const& file, std::string const& place = {}) {
  if (extents.empty() || extents.size() > Shape::max_rank + 1)
    fail_in<FormatError>(file,
                         place + "has " + std::to_string(extents.size()) + " extents, expected 1 to 9, samples first");
  if (std::ranges::count(extents, 0) > 0) fail_in<FormatError>(file, place + "contains no values");
  Shape shape{};
  shape.extents[0] = 1;
  std::copy(extents.begin() + 1, extents.end(), shape.extents);
  with_context([&] { return shape.size(); }, [&](Error& error) { error.in_file(file); });
  return shape;
}

/// Whether values of one shape may be taken for values of another: the extents are the same but for those of 1, or
/// there are equally many values and one of the shapes is flat.
inline bool fits(Shape const& a, Shape const& b) {
  auto const extents = [](Shape const& shape) {
    std::vector<Index> all(shape.extents, shape.extents + shape.rank());
    std::erase(all, 1);
    return all;
  };
  auto const of_a = extents(a), of_b = extents(b);
  return of_a == of_b || (a.size() == b.size() && (of_a.size() < 2 || of_b.size() < 2));
}

/// The number of values of `width` bytes that a header promises. Throws FormatError if the file cannot hold that many.
inline std::size_t promised_values(InputFile const& source, std::span<Index const> extents, std::uint64_t width) {
  auto const values = count(extents, source.most_left() / width);
  if (!values)
    source.malformed("the header promises {" + list(extents) + "} values, more than the file can hold" +
                     source.limit());
  return *values;
}

/// Makes room for `more` values after the first `done`: for all that the header promises if the file is not compressed,
/// since its length was checked, and otherwise as the values arrive.
template <class Value>
void make_room(std::vector<Value>& values, InputFile const& source, std::size_t promised, std::size_t done,
               std::size_t more) {
  if (values.size() < done + more)
    values.resize(source.compressed() ? std::min(promised, std::max(done + more, 2 * done)) : promised);
}

/// Throws FormatError if the file continues.
inline void expect_end(InputFile& source) {
  std::byte extra[1];
  if (source.read(extra) != 0) source.malformed("continues after the values that the header promises");
}

}  // namespace coldpress::data
