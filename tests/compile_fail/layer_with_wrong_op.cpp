// error: layer: needs op(key) that gives a Pointwise operation, or join() that gives one that Joins, or to be a view,
// or forward
#include <coldpress/coldpress.hpp>

using namespace coldpress;

struct HalfOp {
  static constexpr bool needs_input = false, heavy = false;
  template <class T>
  T value(T x, At) const {
    return x / 2;
  }  // and no gradient
};
struct Half {
  static constexpr std::string_view name = "half";
  constexpr Shape output_shape(Shape in) const { return in; }
  constexpr HalfOp op(std::uint64_t) const { return {}; }
  bool operator==(Half const&) const = default;
};

int main() { Network<Sequential<Linear{7}, Half{}>, Shape{4}> net; }
