// error: the layer lacks output_shape
// only gcc: layer 2 (shapeless1) gets {7}: the layer lacks output_shape
// only clang: layer(2, &"shapeless"[0], {{7}}
#include <coldpress/coldpress.hpp>

using namespace coldpress;

struct Shapeless {
  static constexpr std::string_view name = "shapeless";
  bool operator==(Shapeless const&) const = default;
};

int main() { Network<Sequential<Linear{7}, Shapeless{}>, Shape{4}> net; }
