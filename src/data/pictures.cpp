// Crops, mirrors, shifts and rotates pictures, and cuts pieces out of them.
#include "pictures.hpp"

#include <coldpress/core/to_string.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace coldpress::data {
namespace {

/// Calls f(values, values of the same channel in `to`) for each channel.
template <class F>
void each_channel(Picture from_picture, std::span<float const> from, Picture to_picture, std::span<float> to, F f) {
  for (Index c = 0; c < from_picture.channels; ++c)
    f(from.data() + c * from_picture.pixels(), to.data() + c * to_picture.pixels());
}

}  // namespace

Picture picture_of(Shape const& shape) {
  int const rank = shape.rank();
  if (rank == 2) return {1, shape[0], shape[1]};
  if (rank == 3) return {shape[0], shape[1], shape[2]};
  throw ShapeError{"works on pictures of shape {C, H, W} or {H, W}, but the samples have shape " + to_string(shape)};
}

void crop(Picture picture, std::span<float const> from, Picture part, std::span<float> to, Index top, Index left) {
  each_channel(picture, from, part, to, [&](float const* in, float* out) {
    for (Index y = 0; y < part.height; ++y) out = std::copy_n(in + (top + y) * picture.width + left, part.width, out);
  });
}

void mirror(Picture picture, std::span<float> values) {
  for (auto row = values.begin(); row != values.end(); row += picture.width) std::reverse(row, row + picture.width);
}

void shift(Picture picture, std::span<float const> from, std::span<float> to, Index down, Index right) {
  std::ranges::fill(to, 0.0f);
  Index const width = picture.width - std::abs(right);
  each_channel(picture, from, picture, to, [&](float const* in, float* out) {
    for (Index y = std::max<Index>(down, 0); y < picture.height + std::min<Index>(down, 0); ++y)
      std::copy_n(in + (y - down) * picture.width + std::max<Index>(-right, 0), width,
                  out + y * picture.width + std::max<Index>(right, 0));
  });
}

void rotate(Picture picture, std::span<float const> from, std::span<float> to, double angle) {
  double const cosine = std::cos(angle), sine = std::sin(angle);
  double const middle_y = static_cast<double>(picture.height - 1) / 2,
               middle_x = static_cast<double>(picture.width - 1) / 2;
  for (Index y = 0; y < picture.height; ++y) {
    for (Index x = 0; x < picture.width; ++x) {
      double const down = static_cast<double>(y) - middle_y, right = static_cast<double>(x) - middle_x;
      double const from_y = middle_y + sine * right + cosine * down, from_x = middle_x + cosine * right - sine * down;
      double const floor_y = std::floor(from_y), floor_x = std::floor(from_x);
      auto const top = static_cast<Index>(floor_y), left = static_cast<Index>(floor_x);
      auto const lower = static_cast<float>(from_y - floor_y), righter = static_cast<float>(from_x - floor_x);
      each_channel(picture, from, picture, to, [&](float const* in, float* out) {
        auto const at = [&](Index row, Index column) {
          bool const inside = row >= 0 && row < picture.height && column >= 0 && column < picture.width;
          return inside ? in[row * picture.width + column] : 0.0f;
        };
        float const above = at(top, left) * (1 - righter) + at(top, left + 1) * righter;
        float const below = at(top + 1, left) * (1 - righter) + at(top + 1, left + 1) * righter;
        out[y * picture.width + x] = above * (1 - lower) + below * lower;
      });
    }
  }
}

void cut_out(Picture picture, std::span<float> values, Index top, Index left, Index height, Index width) {
  Index const end_y = std::min(top + height, picture.height), end_x = std::min(left + width, picture.width);
  top = std::max<Index>(top, 0), left = std::max<Index>(left, 0);
  for (Index c = 0; c < picture.channels; ++c)
    for (Index y = top; y < end_y; ++y)
      std::fill_n(values.data() + c * picture.pixels() + y * picture.width + left, end_x - left, 0.0f);
}

}  // namespace coldpress::data
