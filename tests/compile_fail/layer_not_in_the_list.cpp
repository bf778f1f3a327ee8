// error: graph: the function uses a layer that is not built in: name it, as in graph<Snake>(...)
#include <coldpress/coldpress.hpp>

using namespace coldpress;

struct CustomNode {
  static constexpr std::string_view name = "stranger";
  static constexpr Capabilities capabilities{.is_view = true};
  constexpr Shape output_shape(Shape in) const { return in; }
  bool operator==(CustomNode const&) const = default;
};
constexpr auto net = graph([](auto x) { return x | CustomNode{} | Linear{3}; });

int main() { Network<Graph<net>, Shape{4}> network; }
