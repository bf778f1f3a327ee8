// error: the operation of join() lacks first or second, its derivatives
#include <coldpress/coldpress.hpp>

using namespace coldpress;

struct QuotientOp {
  static constexpr bool needs_inputs = true, commutes = false;
  template <class T>
  T value(T a, T b) const {
    return a / b;
  }
  template <class T>
  T first(T, T b) const {
    return 1 / b;
  }
};
struct Quotient {
  static constexpr std::string_view name = "quotient";
  constexpr Shape output_shape(Shapes in) const { return in[0]; }
  constexpr QuotientOp join() const { return {}; }
  bool operator==(Quotient const&) const = default;
};

constexpr auto function = graph<Quotient>([](auto x) { return apply(Quotient{}, x | Linear{3}, x | Linear{3}); });

int main() { Network<Graph<function>, Shape{4}> net; }
