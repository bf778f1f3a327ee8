// error: the loss lacks target
// error: layer
// error: huber
#include "huber.hpp"

using namespace coldpress;

constexpr auto net = graph<PseudoHuber>([](auto x, auto wanted) {
  auto const y = x | Linear{1};
  apply(PseudoHuber{}, y, wanted) | name("loss");
  return y;
});
using Net = Network<Graph<net>, Inputs{Shape{4}, Shape{1}}>;

int main() {
  Net network;
  Solver<Net, OwnLosses{}> solver{network};
}
