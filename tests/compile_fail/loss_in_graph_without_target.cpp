// error: the loss lacks target
// error: layer
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
constexpr auto net = graph<Huber>([](auto x, auto wanted) {
  auto const y = x | Linear{1};
  apply(Huber{}, y, wanted) | name("loss");
  return y;
});
using Net = Network<Graph<net>, Inputs{Shape{4}, Shape{1}}>;

int main() {
  Net network;
  Solver<Net, OwnLosses{}> solver{network};
}
