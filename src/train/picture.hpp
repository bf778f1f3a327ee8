// Samples as pictures in PNG files.
#pragma once

#include <coldpress/core/shape.hpp>

#include <span>
#include <string>
#include <string_view>

namespace coldpress::train::detail {

/// 1 for shapes {H, W} and {1, H, W}, 3 for {3, H, W}; 0 for a shape that is no picture, or smaller than 4 x 4.
Index channels_of(Shape const& shape);
/// The bytes of a PNG file. Values in [0, 1] go from black to white; otherwise, the smallest one is black and the
/// largest white. Values that are not finite are black. The shape must be that of a picture.
std::string png(Shape const& shape, std::span<float const> values);
std::string base64(std::string_view bytes);

}  // namespace coldpress::train::detail
