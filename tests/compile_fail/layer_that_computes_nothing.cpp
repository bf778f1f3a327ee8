// error: layer: it needs op(key), which returns a Pointwise operation, or join(), which returns one that Joins
#include <coldpress/coldpress.hpp>

using namespace coldpress;

struct Nothing {
  static constexpr std::string_view name = "nothing";
  constexpr Shape output_shape(Shape in) const { return in; }
  bool operator==(Nothing const&) const = default;
};

int main() { Network<Sequential<Linear{7}, Nothing{}>, Shape{4}> net; }
