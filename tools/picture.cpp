// Draws a picture with characters of different darkness, or several in a grid as one PNG file.
#include "picture.hpp"

#include <coldpress/core/to_string.hpp>
#include <coldpress/data/images.hpp>

#include <algorithm>
#include <cmath>
#include <string_view>

namespace coldpress::command {
namespace {

constexpr Index fewest_pixels = 4, most_columns = 64, most_lines = 64;
constexpr Index most_pixels = Index{1} << 26;
constexpr std::string_view shades = " .:-=+*#%@";

Index channels_of(Shape const& shape) { return shape.has_rank(3) ? shape[0] : 1; }
Index height_of(Shape const& shape) { return shape[shape.rank() - 2]; }
Index width_of(Shape const& shape) { return shape[shape.rank() - 1]; }

}  // namespace

bool is_picture(Shape const& shape) {
  return (shape.has_rank(2) || (shape.has_rank(3) && (shape[0] == 1 || shape[0] == 3))) &&
         height_of(shape) >= fewest_pixels && width_of(shape) >= fewest_pixels;
}

std::string text_picture(Shape const& shape, std::span<float const> values, std::string const& indent) {
  Index const channels = channels_of(shape), height = height_of(shape), width = width_of(shape);
  // A character is about twice as high as it is wide.
  Index const columns = std::min(width, most_columns);
  Index const lines = std::clamp<Index>(height * columns / (2 * width), 1, most_lines);
  std::vector<double> cells;
  for (Index line = 0; line < lines; ++line)
    for (Index column = 0; column < columns; ++column) {
      Index const top = line * height / lines, bottom = (line + 1) * height / lines;
      Index const left = column * width / columns, right = (column + 1) * width / columns;
      double sum = 0;
      for (Index c = 0; c < channels; ++c)
        for (Index y = top; y < bottom; ++y)
          for (Index x = left; x < right; ++x)
            sum += static_cast<double>(values[static_cast<std::size_t>((c * height + y) * width + x)]);
      cells.push_back(sum / static_cast<double>(channels * (bottom - top) * (right - left)));
    }
  auto const [least, greatest] = std::ranges::minmax(cells);
  std::string text;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (i % static_cast<std::size_t>(columns) == 0) text += (i == 0 ? "" : "\n") + indent;
    double const grey = greatest > least ? (cells[i] - least) / (greatest - least) : 0;
    text += shades[std::min(shades.size() - 1, static_cast<std::size_t>(grey * static_cast<double>(shades.size())))];
  }
  return text + "\n";
}

ContactSheet::ContactSheet(Shape const& shape, Index count) {
  if (!is_picture(shape))
    throw ShapeError{"samples of shape " + to_string(shape) +
                     " are no pictures, expected {H, W}, {1, H, W} or {3, H, W} with H and W from 4 on"};
  channels_ = channels_of(shape), height_ = height_of(shape), width_ = width_of(shape);
  columns_ = static_cast<Index>(std::ceil(std::sqrt(static_cast<double>(count))));
  rows_ = (count + columns_ - 1) / columns_;
  if (count > most_pixels / ((height_ + 1) * (width_ + 1)))
    throw ShapeError{std::to_string(count) + " pictures of shape " + to_string(shape) +
                     " are more than 2^26 pixels; --first shows fewer"};
}

void ContactSheet::add(std::span<float const> values) { pictures_.emplace_back(values.begin(), values.end()); }

void ContactSheet::write(std::string const& path) const {
  float least = 0, greatest = 1;
  for (auto const& picture : pictures_)
    for (float const value : picture) least = std::min(least, value), greatest = std::max(greatest, value);
  Index const height = rows_ * (height_ + 1) - 1, width = columns_ * (width_ + 1) - 1;
  std::vector<float> sheet(static_cast<std::size_t>(channels_ * height * width));
  for (std::size_t i = 0; i < pictures_.size(); ++i) {
    Index const top = static_cast<Index>(i) / columns_ * (height_ + 1);
    Index const left = static_cast<Index>(i) % columns_ * (width_ + 1);
    for (Index c = 0; c < channels_; ++c)
      for (Index y = 0; y < height_; ++y)
        for (Index x = 0; x < width_; ++x)
          sheet[static_cast<std::size_t>((c * height + top + y) * width + left + x)] =
              (pictures_[i][static_cast<std::size_t>((c * height_ + y) * width_ + x)] - least) / (greatest - least);
  }
  data::write_png(path, {channels_, height, width}, sheet);
}

}  // namespace coldpress::command
