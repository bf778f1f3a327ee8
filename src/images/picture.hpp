// A picture in memory, decoded from PNG or JPEG.
#pragma once

#include "data/png.hpp"

#include <coldpress/core/shape.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace coldpress::data {

/// Red, green and blue of each pixel, row by row.
struct DecodedPicture {
  Index width = 0, height = 0;
  std::vector<std::uint8_t> values;
};

/// The size of the picture in `bytes`, without its pixels. Throws FormatError for what is neither PNG nor JPEG, damaged
/// or too large.
DecodedPicture measure(std::span<std::byte const> bytes);
/// The whole picture, in memory that is used again. Throws FormatError.
void decode(std::span<std::byte const> bytes, DecodedPicture& picture);

// Both with pixels, or without them. `bytes` begins as the format does.
void decode_png(std::span<std::byte const> bytes, DecodedPicture& picture, bool pixels);
void decode_jpeg(std::span<std::byte const> bytes, DecodedPicture& picture, bool pixels);

/// Throws FormatError if there are more than most_pixels or none. Decoders ask before they take memory for pixels.
void check_size(DecodedPicture const& picture);

/// Pixels as floats in [0, 1], {channels, height, width}: as they are, or resized to this size. Beside the picture it
/// needs memory for a few lines, however high and wide the picture is.
class Sampler {
 public:
  Sampler(Index channels, Index height, Index width) : channels_(channels), height_(height), width_(width) {}
  void sample(DecodedPicture const& picture, float* values);

 private:
  /// How the values on a line of another length depend on those of a picture.
  struct Weights {
    std::vector<Index> first, count;
    std::vector<std::size_t> begin;  // of the values of each place
    std::vector<float> values;
    void set(Index from, Index to);
  };

  Index channels_, height_, width_;
  Weights horizontal_, vertical_;
  std::vector<float> line_, resized_;  // of one channel
};

}  // namespace coldpress::data
