// error: shape: an extent must be at least 1
#include <coldpress/core/shape.hpp>

constexpr auto size = coldpress::Shape{3, -1}.size();
