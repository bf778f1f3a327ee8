// error: the layer lacks output_shape
#include <coldpress/coldpress.hpp>

using namespace coldpress;

struct Shapeless {
  static constexpr std::string_view name = "shapeless";
  bool operator==(Shapeless const&) const = default;
};

int main() { Network<Sequential<Linear{7}, Shapeless{}>, Shape{4}> net; }
