// Two ranks take a step together, and know of each other's failures.
#include <coldpress/coldpress.hpp>
#include <coldpress/distributed.hpp>

#include <cstdio>
#include <vector>

using namespace coldpress;

int main() {
  using Net = Network<Sequential<Linear{2}>, Shape{3}>;
  float losses[3] = {};
  auto const step = [&](Communicator* ranks) {
    Net net{1};
    Solver<Net, MeanSquaredError{}, Sgd{}, SolverOptions{.microbatch = 1}> solver{net};
    if (ranks) distributed::start(solver, *ranks);
    std::vector<float> const x(12, 0.5f), t(8);
    solver.train_minibatch(x, t);
    losses[ranks ? ranks->rank() : 2] = solver.train_minibatch(x, t);
  };
  step(nullptr);
  distributed::InProcess{2}.run([&](Communicator& ranks) { step(&ranks); });
  std::printf("%g %g %g, %d started\n", static_cast<double>(losses[0]), static_cast<double>(losses[1]),
              static_cast<double>(losses[2]), distributed::launched_ranks());
  return !(losses[0] == losses[2] && losses[1] == losses[2]);
}
