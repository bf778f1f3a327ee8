// error: the layer lacks a comparison
#include <coldpress/coldpress.hpp>

using namespace coldpress;

struct Same {
  static constexpr std::string_view name = "same";
  constexpr Shape output_shape(Shape const& in) const { return in; }
};

constexpr auto net = graph<Same>([](auto x) { return x | Same{}; });

int main() { Network<Graph<net>, Shape{4}> network; }
