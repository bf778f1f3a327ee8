// error: halve: the number of values must be even
// only gcc: layer 2 (halve1) gets {7}
// only clang: ask_layer(2, &"halve"[0]
#include <coldpress/coldpress.hpp>

using namespace coldpress;

struct Halve {
  static constexpr std::string_view name = "halve";
  static constexpr Capabilities capabilities{.is_view = true};
  constexpr Shape output_shape(Shape const& in) const {
    require(in.size() % 2 == 0, "halve: the number of values must be even");
    return {2, in.size() / 2};
  }
  bool operator==(Halve const&) const = default;
};

int main() { Network<Sequential<Linear{7}, Halve{}>, Shape{4}> net; }
