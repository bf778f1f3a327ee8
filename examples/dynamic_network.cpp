// The same network as data: built from a config, trained, saved, and loaded by a program that knows nothing about it.
// ctest:
#include <coldpress/dynamic.hpp>

#include <cstdio>
#include <string>
#include <vector>

using namespace coldpress;

int main() {
  std::vector<float> const x{0, 0, 0, 1, 1, 0, 1, 1};  // four samples, one after another
  std::vector<float> const targets{0, 1, 1, 0};

  dynamic::SequentialConfig layers;
  layers.add_input("bits", Shape{2});
  layers.add_layer({"linear1", Linear{16}}).add_layer({"tanh1", TanH{}}).add_layer({"linear2", Linear{1}});
  dynamic::SolverConfig const config{.network = dynamic::LayerConfig{"xor", layers},
                                     .objective = dynamic::LayerConfig{"loss", MeanSquaredError{}},
                                     .base_lr = 0.1f,
                                     .momentum = 0.9f};

  dynamic::Backend const cpu{"cpu"};  // the best instructions this machine has
  auto solver = dynamic::Solver::from_config(cpu, config, {}, 42);
  for (int step = 0; step < 500; ++step) solver.train_minibatch(x, targets);
  solver.network().save("xor.juice");

  auto layer = dynamic::Layer::load(cpu, "xor.juice");
  auto const y = layer.predict(x);
  std::printf("loss %.1e; xor of 00 01 10 11: %.2f %.2f %.2f %.2f\n", solver.loss(), y[0], y[1], y[2], y[3]);
  for (std::string const& name : layer.learnable_weights_names()) std::printf("weight %s\n", name.c_str());
  return solver.loss() < 1e-3f ? 0 : 1;
}
