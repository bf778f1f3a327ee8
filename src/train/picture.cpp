#include "picture.hpp"

#include <coldpress/core/error.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include <zlib.h>

namespace coldpress::train::detail {
namespace {

void put(std::string& bytes, std::uint64_t value) {  // big-endian
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>((value >> shift) & 255u);
}
Bytef const* bytes_of(std::string const& text) { return reinterpret_cast<Bytef const*>(text.data()); }

void add_chunk(std::string& file, std::string_view kind, std::string_view content) {
  put(file, content.size());
  std::string const checked = std::string{kind}.append(content);
  file += checked;
  put(file, ::crc32(0, bytes_of(checked), static_cast<uInt>(checked.size())));
}

}  // namespace

Index channels_of(Shape const& shape) {
  int const rank = shape.rank();
  Index const channels = rank == 2 ? 1 : rank == 3 ? shape[0] : 0;
  bool const is_picture = (channels == 1 || channels == 3) && shape[rank - 2] >= 4 && shape[rank - 1] >= 4 &&
                          shape[rank - 2] <= 4096 && shape[rank - 1] <= 4096;
  return is_picture ? channels : 0;
}

std::string png(Shape const& shape, std::span<float const> values) {
  auto const channels = static_cast<std::size_t>(channels_of(shape));
  auto const height = static_cast<std::size_t>(shape[shape.rank() - 2]);
  auto const width = static_cast<std::size_t>(shape[shape.rank() - 1]);
  float black = 0, white = 1;
  for (float const value : values) {
    if (std::isfinite(value)) black = std::min(black, value), white = std::max(white, value);
  }
  if (black < 0 || white > 1) {
    black = std::numeric_limits<float>::infinity(), white = -black;
    for (float const value : values) {
      if (std::isfinite(value)) black = std::min(black, value), white = std::max(white, value);
    }
  }
  double const low = static_cast<double>(black);
  double const scale = white > black ? 255 / (static_cast<double>(white) - low) : 0;
  std::string rows;
  for (std::size_t y = 0; y < height; ++y) {
    rows += '\0';  // no filter
    for (std::size_t i = 0; i < width * channels; ++i) {
      float const value = values[(i % channels * height + y) * width + i / channels];
      rows += static_cast<char>(std::isfinite(value) ? std::lround((static_cast<double>(value) - low) * scale) : 0);
    }
  }
  uLongf size = ::compressBound(rows.size());
  std::string packed(size, '\0');
  if (::compress(reinterpret_cast<Bytef*>(packed.data()), &size, bytes_of(rows), rows.size()) != Z_OK)
    throw MemoryError{"there is not enough memory for a picture of shape " + to_string(shape)};
  std::string header;
  put(header, width), put(header, height);
  header += '\x08';                         // bits a value
  header += channels == 3 ? '\x02' : '\0';  // colours or grey
  header.append(3, '\0');                   // deflate, filters, not interlaced
  std::string file = "\x89PNG\r\n\x1a\n";
  add_chunk(file, "IHDR", header);
  add_chunk(file, "IDAT", std::string_view{packed}.substr(0, size));
  add_chunk(file, "IEND", {});
  return file;
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    unsigned word = 0;
    for (std::size_t k = 0; k < 3; ++k)
      word = (word << 8) | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    for (std::size_t k = 0; k < 4; ++k) out += i + k <= bytes.size() ? digits[(word >> (18 - 6 * k)) & 63u] : '=';
  }
  return out;
}

}  // namespace coldpress::train::detail
