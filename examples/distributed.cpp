// Several processes train one network together, to the bits of one process (docs/distributed.md):
//   mpirun -n 4 build/release/examples/distributed
// Without mpirun, the ranks are two threads of this process. The last line is the same for any number of them.
// ctest:
#include <coldpress/coldpress.hpp>
#include <coldpress/core/fingerprint.hpp>
#include <coldpress/distributed.hpp>

#include <cstdio>
#include <exception>
#include <random>
#include <vector>

using namespace coldpress;

using Net = Network<Sequential<Linear{64}, TanH{}, Dropout{.probability = 0.1f}, Linear{1}>, Shape{8}>;
// The parts of 8 samples are what the ranks share, and what the bits depend on.
using Trained = Solver<Net, MeanSquaredError{}, Adam{.learning_rate = 0.003f}, SolverOptions{.microbatch = 8}>;

void train(Communicator& ranks) {
  Net net{42};
  Trained solver{net};
  distributed::start(solver, ranks);  // compares what the ranks begin with, and divides the steps among them

  std::mt19937 random{7};  // every rank makes the same minibatches, and computes its parts of them
  std::vector<float> x(64 * 8), y(64);
  float loss = 0;
  for (int step = 0; step < 500; ++step) {
    for (std::size_t n = 0; n < y.size(); ++n) {
      y[n] = 0;
      for (std::size_t i = 8 * n; i < 8 * n + 8; ++i) {
        x[i] = static_cast<float>(random() % 2001) / 1000 - 1;
        y[n] += x[i] * x[i] / 8;
      }
    }
    loss = solver.train_minibatch(x, y);
  }
  if (ranks.rank() != 0) return;
  Fingerprint hash;
  for (float const weight : net.parameters()) hash.word(bits_of(weight));
  std::printf("%d ranks\nloss %g, hash of the weights %016llx\n", ranks.size(), static_cast<double>(loss),
              static_cast<unsigned long long>(hash.number));
}

int main() {
  try {
    if (distributed::launched_ranks() > 1) {
      distributed::Mpi mpi;
      train(mpi);
    } else {
      distributed::InProcess{2}.run(train);
    }
  } catch (std::exception const& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
