// error: the loss lacks target
// error: huber
#include "huber.hpp"

using namespace coldpress;

using Net = Network<Sequential<Linear{1}>, Shape{4}>;

int main() {
  Net net;
  Solver<Net, PseudoHuber{}> solver{net};
  float const x[4] = {}, t[1] = {};
  return solver.train_minibatch(x, t) > 0;
}
