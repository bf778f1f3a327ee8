// error: Nameless
// error: Layer
#include <coldpress/coldpress.hpp>

using namespace coldpress;

struct Nameless {
  constexpr Shape output_shape(Shape in) const { return in; }
  bool operator==(Nameless const&) const = default;
};

using Net = Sequential<Linear{7}, Nameless{}>;
