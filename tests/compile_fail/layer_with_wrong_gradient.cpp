// error: the operation of op(key) lacks gradient: template <class T> T gradient(T x, T y, Position) const
#include <coldpress/coldpress.hpp>

using namespace coldpress;

struct HalfOp {
  static constexpr bool needs_input = false, heavy = false;
  template <class T>
  T value(T x, Position) const {
    return x / 2;
  }
  template <class T>
  T gradient(T, Position) const {
    return T{} + 0.5f;
  }  // not of x and y
};
struct Half {
  static constexpr std::string_view name = "half";
  constexpr Shape output_shape(Shape in) const { return in; }
  constexpr HalfOp op(std::uint64_t) const { return {}; }
  bool operator==(Half const&) const = default;
};

int main() { Network<Sequential<Linear{7}, Half{}>, Shape{4}> net; }
