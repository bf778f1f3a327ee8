// error: the loss lacks gradient
// error: huber
#include <coldpress/coldpress.hpp>

using namespace coldpress;

struct PseudoHuber {
  static constexpr std::string_view name = "huber";
  static constexpr Target target = Target::value;
  float loss_weight = 1;
  constexpr Shape target_shape(Shape const& in) const { return in; }
  template <class T>
  constexpr T value(T y, T t) const {
    return (y - t) * (y - t);
  }
  bool operator==(PseudoHuber const&) const = default;
};
using Net = Network<Sequential<Linear{1}>, Shape{4}>;

int main() {
  Net net;
  Solver<Net, PseudoHuber{}> solver{net};
}
