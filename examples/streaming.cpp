// A recurrent network in a real-time loop: trained on sequences, then fed one sample at a time, with no heap and no
// lock. It learns a distortion with memory: the input is smoothed, then driven into tanh.
// ctest:
#include <coldpress/coldpress.hpp>
#include <coldpress/persist.hpp>

#include <cmath>
#include <cstdio>
#include <random>
#include <vector>

using namespace coldpress;

using Effect = Sequential<Rnn{.hidden_size = 16, .output = RnnOutput::last_step}, Linear{1}>;
using Offline = Network<Effect, Shape{24, 1}>;     // a sample is 24 steps of one feature
using Live = Network<Effect, Shape{1}, Batch<1>>;  // one step per call; everything is inside the object

int main() {
  std::mt19937 random{1};
  std::vector<float> signal(4096), wanted;
  float smooth = 0;
  for (float& x : signal) {
    x = std::uniform_real_distribution<float>{-1, 1}(random);
    smooth = 0.7f * smooth + 0.3f * x;
    wanted.push_back(std::tanh(3 * smooth));
  }

  Offline net{7};
  Solver<Offline, MeanSquaredError{}, Adam{.learning_rate = 5e-3f}> solver{net};
  float loss = 0;
  for (int step = 0; step < 1500; ++step) {  // 32 windows of the signal, each with the target at its end
    std::vector<float> x, y;
    for (int i = 0; i < 32; ++i) {
      auto const start = static_cast<std::ptrdiff_t>(random() % (signal.size() - 24));
      x.insert(x.end(), signal.begin() + start, signal.begin() + start + 24);
      y.push_back(wanted[static_cast<std::size_t>(start) + 23]);
    }
    loss = solver.train_minibatch(x, y);
  }
  save(net, "effect.juice");

  auto live = load<Live>("effect.juice");  // the same weights, whatever the number of steps
  double error = 0;
  for (std::size_t t = 0; t < 1000; ++t) {
    float const y = live.step(std::span{&signal[t], 1})[0];  // continues where the last call ended
    error += (t >= 24) * std::pow(double{y} - double{wanted[t]}, 2) / 976;
  }
  live.reset();  // starts another sequence
  std::printf("loss %.1e; mean squared error of the stream %.1e\n", double{loss}, error);
  return error < 2e-3 ? 0 : 1;
}
