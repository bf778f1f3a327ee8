// error: shape: more than 2^40 values
// A control: it does not compile, but for another reason, so the check must refuse it.
#include <coldpress/core/shape.hpp>

constexpr auto size = coldpress::Shape{3, -1}.size();
