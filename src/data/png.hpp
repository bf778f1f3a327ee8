// Writes PNG files, whether or not libpng is there.
#pragma once

#include <coldpress/core/shape.hpp>

#include <cstdint>
#include <span>
#include <string>

namespace coldpress::data {

/// The most pixels of a picture that is read or written.
constexpr Index most_pixels = Index{1} << 26;

/// The bytes of a PNG file. `values` are pixels row by row, each of them grey, or red, green and blue. Throws
/// MemoryError.
std::string png(Index width, Index height, Index channels, std::span<std::uint8_t const> values);

}  // namespace coldpress::data
