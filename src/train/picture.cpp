// Scales the values of a sample to pixels between black and white, and encodes bytes as base64.
#include "picture.hpp"

#include "data/png.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace coldpress::train::detail {

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
  auto const width = static_cast<std::size_t>(shape.last());
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
  std::vector<std::uint8_t> pixels(height * width * channels);
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    float const value = values[i % channels * height * width + i / channels];
    pixels[i] =
        static_cast<std::uint8_t>(std::isfinite(value) ? std::lround((static_cast<double>(value) - low) * scale) : 0);
  }
  return data::png(static_cast<Index>(width), static_cast<Index>(height), static_cast<Index>(channels), pixels);
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
