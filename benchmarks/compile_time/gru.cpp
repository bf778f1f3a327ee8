// A GRU of 128 units, trained on sequences of 64 steps and then given one step at a time.
#include <coldpress/coldpress.hpp>

#include <vector>

using namespace coldpress;

using Layers = Sequential<Rnn{.hidden_size = 128, .rnn_type = RnnType::gru, .output = RnnOutput::last_step}, Linear{1}>;
using Offline = Network<Layers, Shape{64, 1}, Batch<32>>;
using Live = Network<Layers, Shape{1}, Batch<1>>;

static Offline offline{7};
static Solver<Offline, MeanSquaredError{}, Adam{}> solver{offline};
static Live live{7};

int main() {
  std::vector<float> const sequences(32 * 64, 0.5f), targets(32);
  float const loss = solver.train_minibatch(sequences, targets);
  return live.step(std::vector{0.5f})[0] + offline.forward(sequences)[0] < loss ? 0 : 1;
}
