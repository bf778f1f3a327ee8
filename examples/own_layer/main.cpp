// A network with this project's layer: trained as a type, saved, and loaded from the file by the layer's name.
#include "snake.hpp"

#include <coldpress/coldpress.hpp>
#include <coldpress/dynamic/describe.hpp>
#include <coldpress/dynamic/register_layer.hpp>
#include <coldpress/persist.hpp>

#include <cstdio>
#include <vector>

using namespace coldpress;

using Wave = Network<Sequential<Linear{16}, Snake{.frequency = 0.5f}, Linear{1}>, Shape{1}>;

int main() {
  std::vector<float> x, targets;
  for (int i = -32; i < 32; ++i) {
    x.push_back(static_cast<float>(i) / 16);
    targets.push_back(x.back() * x.back() - 1);
  }
  Wave net{42};
  Solver<Wave, MeanSquaredError{}, Adam{.learning_rate = 0.01f}> solver{net};
  float loss = 0;
  for (int step = 0; step < 500; ++step) loss = solver.train_minibatch(x, targets);
  std::printf("loss %.1e\n", loss);
  save(net, "wave.juice");

  auto const cpu = dynamic::Backend::like_static();
  try {
    dynamic::Layer::load(cpu, "wave.juice");
    return 1;
  } catch (UnsupportedError const& error) {
    std::printf("before it is registered: %s\n", error.what());
  }
  dynamic::register_layer<Snake>();
  auto loaded = dynamic::Layer::load(cpu, "wave.juice");
  std::printf("%s", dynamic::describe(loaded.config()).c_str());

  auto const y = net.forward(x);
  auto const same = loaded.predict(x);
  return loss < 0.05f && std::equal(y.begin(), y.end(), same.begin(), same.end()) ? 0 : 1;
}
