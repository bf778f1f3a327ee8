// error: Solver: a number of the optimizer is out of range
#include <coldpress/coldpress.hpp>

using namespace coldpress;

using Net = Network<Sequential<Linear{2}>, Shape{4}>;

int main() {
  Net net;
  Solver<Net, MeanSquaredError{}, Sgd{.learning_rate = 0.1f, .momentum = 1.5f}> solver{net};
}
