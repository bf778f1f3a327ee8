// error: graph: the function uses a layer that is not built in: name it, as in graph<Snake>(...)
#include <coldpress/coldpress.hpp>
#include <coldpress/typed/operations.hpp>

using namespace coldpress;

struct Reverse {
  static constexpr std::string_view name = "reverse";
  constexpr Shape output_shape(Shape in) const { return in; }
  void forward(auto const&, auto const&) const {}
  bool operator==(Reverse const&) const = default;
};

constexpr auto function = graph([](auto x) { return x | Linear{4} | Reverse{}; });

int main() { Network<Graph<function>, Shape{4}> net; }
