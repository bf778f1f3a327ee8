// Packs pixels into the chunks of a PNG file with zlib alone.
#include "png.hpp"

#include <coldpress/data/atomic_file.hpp>
#include <coldpress/data/images.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string_view>
#include <vector>

#include <zlib.h>

namespace coldpress::data {
namespace {

void put(std::string& bytes, std::uint64_t value) {  // big-endian
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>((value >> shift) & 255u);
}
Bytef const* zlib_bytes(std::string const& text) { return reinterpret_cast<Bytef const*>(text.data()); }

void add_chunk(std::string& file, std::string_view kind, std::string_view content) {
  put(file, content.size());
  std::string const checked = std::string{kind}.append(content);
  file += checked;
  put(file, ::crc32(0, zlib_bytes(checked), static_cast<uInt>(checked.size())));
}

}  // namespace

std::string png(Index width, Index height, Index channels, std::span<std::uint8_t const> values) {
  auto const line = static_cast<std::size_t>(width * channels);
  std::string rows;
  rows.reserve(values.size() + static_cast<std::size_t>(height));
  for (auto left = values; !left.empty(); left = left.subspan(line)) {
    rows += '\0';  // no filter
    rows.append(reinterpret_cast<char const*>(left.data()), line);
  }
  uLongf size = ::compressBound(rows.size());
  std::string packed(size, '\0');
  if (::compress(reinterpret_cast<Bytef*>(packed.data()), &size, zlib_bytes(rows), rows.size()) != Z_OK)
    throw MemoryError{"there is not enough memory to compress a picture of " + std::to_string(width) + " x " +
                      std::to_string(height) + " pixels"};
  std::string header;
  put(header, static_cast<std::uint64_t>(width)), put(header, static_cast<std::uint64_t>(height));
  header += '\x08';                         // bits per value
  header += channels == 3 ? '\x02' : '\0';  // colours or grey
  header.append(3, '\0');                   // deflate, filters, not interlaced
  std::string file = "\x89PNG\r\n\x1a\n";
  add_chunk(file, "IHDR", header);
  add_chunk(file, "IDAT", std::string_view{packed}.substr(0, size));
  add_chunk(file, "IEND", {});
  return file;
}

bool is_picture_file(std::string const& path) {
  std::string ending = std::filesystem::path{path}.extension().string();
  std::ranges::transform(ending, ending.begin(), [](char c) { return 'A' <= c && c <= 'Z' ? c + ('a' - 'A') : c; });
  return ending == ".png" || ending == ".jpg" || ending == ".jpeg";
}

void write_png(std::string const& path, Shape const& shape, std::span<float const> values) {
  int const rank = shape.rank();
  Index const channels = rank == 3 ? shape[0] : 1;
  if ((rank != 2 && rank != 3) || (channels != 1 && channels != 3) ||
      static_cast<Index>(values.size()) != shape.size() || shape.size() / channels > most_pixels)
    throw ShapeError{std::to_string(values.size()) + " values of shape " + to_string(shape) +
                     " are no picture, expected {H, W}, {1, H, W} or {3, H, W} with at most 2^26 pixels"};
  auto const pixels = values.size() / static_cast<std::size_t>(channels);
  std::vector<std::uint8_t> bytes(values.size());
  for (std::size_t c = 0; c < static_cast<std::size_t>(channels); ++c)
    for (std::size_t i = 0; i < pixels; ++i) {
      float const value = values[c * pixels + i];  // what is not a number is black
      bytes[i * static_cast<std::size_t>(channels) + c] =
          static_cast<std::uint8_t>(value > 0 ? std::lround(255 * std::min(value, 1.0f)) : 0);
    }
  std::string const file = png(shape[rank - 1], shape[rank - 2], channels, bytes);
  write_atomically(path, std::as_bytes(std::span{file}));
}

}  // namespace coldpress::data
