// error: Solver: momentum_policy is for an optimizer with a momentum, which it must keep below 1
#include <coldpress/coldpress.hpp>

using namespace coldpress;

using Net = Network<Sequential<Linear{2}>, Shape{4}>;

int main() {
  Net net;
  Solver<Net, MeanSquaredError{}, Sgd{.momentum = 0.5f}, SolverOptions{.momentum_policy = policy::Linear{}}> solver{net};
}
