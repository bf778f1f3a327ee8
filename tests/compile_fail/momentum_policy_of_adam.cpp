// error: Solver: momentum_policy is for an optimizer with a momentum, which it must keep below 1
#include <coldpress/coldpress.hpp>

using namespace coldpress;

using Net = Network<Sequential<Linear{2}>, Shape{4}>;

int main() {
  Net net;
  Solver<Net, MeanSquaredError{}, Adam{}, SolverOptions{.momentum_policy = policy::Step{.max = 0.9f}}> solver{net};
}
