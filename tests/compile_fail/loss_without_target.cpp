// error: the loss lacks target
// error: huber
#include <coldpress/coldpress.hpp>

using namespace coldpress;

struct Huber {
  static constexpr std::string_view name = "huber";
  float loss_weight = 1;
  constexpr Shape target_shape(Shape const& in) const { return in; }
  template <class T>
  constexpr T value(T y, T t) const {
    return (y - t) * (y - t);
  }
  template <class T>
  constexpr T gradient(T y, T t) const {
    return 2 * (y - t);
  }
  bool operator==(Huber const&) const = default;
};
using Net = Network<Sequential<Linear{1}>, Shape{4}>;

int main() {
  Net net;
  Solver<Net, Huber{}> solver{net};
  float const x[4] = {}, t[1] = {};
  return solver.train_minibatch(x, t) > 0;
}
