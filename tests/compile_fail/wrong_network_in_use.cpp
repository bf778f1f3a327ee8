// error: reshape: the shapes must have equally many values
// error: layer
// only gcc: layer 2 (reshape1) gets {16}: reshape: the shapes must have equally many values (15)
// only clang: layer(2, &"reshape"[0], {{16}}
#include <coldpress/coldpress.hpp>

using namespace coldpress;

using Net = Network<Sequential<Linear{16}, Reshape{{3, 5}}, TanH{}, Linear{1}>, Shape{2}>;

// What follows the mistake gives no further errors.
int main() {
  float const x[2] = {}, t[1] = {};
  Net net{42};
  Solver<Net, MeanSquaredError{}, Adam{.learning_rate = 0.1f}> solver{net};
  for (int step = 0; step < 5; ++step) solver.train_minibatch(x, t);
  solver.optimizer().learning_rate = 0.01f;
  Net::Workspace workspace;
  auto const y = net.forward(x, workspace);
  net.reserve(8);
  return y[0] > 0 && net.forward(x)[0] > 0 && net.step(x)[0] > 0 && Net::weight_count > 0;
}
