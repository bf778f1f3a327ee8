// error: the layer lacks a name
// error: Nameless
#include <coldpress/coldpress.hpp>

using namespace coldpress;

struct Nameless {
  constexpr Shape output_shape(Shape in) const { return in; }
  bool operator==(Nameless const&) const = default;
};

int main() { Network<Sequential<Linear{7}, Nameless{}>, Shape{4}> net; }
