// error: shape: an extent must be at least 1
// A control: it compiles, so the check must refuse it.
#include <coldpress/core/shape.hpp>

static_assert(coldpress::Shape{3, 32, 32}.size() == 3072);
