// Samples as pictures: in text for a terminal, and side by side for a file.
#pragma once

#include <coldpress/core/shape.hpp>

#include <span>
#include <string>
#include <vector>

namespace coldpress::command {

/// Whether samples of this shape are pictures: {H, W}, {1, H, W} or {3, H, W} with at least 4 pixels in each direction.
bool is_picture(Shape const& shape);

/// The picture in shades of grey, from the least value to the greatest, at most 64 columns wide; lines begin with
/// `indent`.
std::string text_picture(Shape const& shape, std::span<float const> values, std::string const& indent);

/// Pictures beside and below each other, with a line of one pixel between them.
class ContactSheet {
 public:
  /// For up to `count` pictures of this shape. Throws ShapeError for one that is no picture, or more than 2^26 pixels.
  ContactSheet(Shape const& shape, Index count);
  void add(std::span<float const> values);
  /// Writes a PNG file. Values in [0, 1] stay as they are; others are scaled to this range. Throws FileError, and
  /// UnsupportedError if coldpress::images is not linked.
  void write(std::string const& path) const;

 private:
  Index channels_, height_, width_;
  Index columns_, rows_;
  std::vector<std::vector<float>> pictures_;
};

}  // namespace coldpress::command
