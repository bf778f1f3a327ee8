// What transforms do to pictures: row-major values, one channel after another.
#pragma once

#include <coldpress/core/shape.hpp>

#include <span>
#include <utility>
#include <vector>

namespace coldpress::data {

/// The channels, rows and columns of pictures.
struct Picture {
  Index channels, height, width;
  Index pixels() const { return height * width; }
};
/// Throws ShapeError unless the shape is {C, H, W} or {H, W}.
Picture picture_of(Shape const& shape);

/// Height and width, which may be given by one number for both.
inline std::pair<Index, Index> both(std::vector<Index> const& extents) { return {extents.front(), extents.back()}; }

/// The part of `from` whose upper left corner is at {top, left}; `part` has the same channels.
void crop(Picture picture, std::span<float const> from, Picture part, std::span<float> to, Index top, Index left);
void mirror(Picture picture, std::span<float> values);
/// Moves the picture down and to the right by these numbers of pixels, or up and to the left if they are negative.
void shift(Picture picture, std::span<float const> from, std::span<float> to, Index down, Index right);
/// Turns the picture counterclockwise by an angle in radians about ((H - 1) / 2, (W - 1) / 2). Outside the picture
/// there are zeros, with which its border is interpolated.
void rotate(Picture picture, std::span<float const> from, std::span<float> to, double angle);
/// Sets what is inside both the picture and the rectangle to 0.
void cut_out(Picture picture, std::span<float> values, Index top, Index left, Index height, Index width);

}  // namespace coldpress::data
