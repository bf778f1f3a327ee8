// A user's first program: learns xor; where files are to be had, saves it and loads it again with no type known.
#include <coldpress/coldpress.hpp>

#if defined CONSUMES_PERSIST
#include <coldpress/persist.hpp>
#endif

#include <vector>

using namespace coldpress;
using Xor = Network<Sequential<Linear{8}, TanH{}, Linear{1}>, Shape{2}>;

int main() {
  std::vector<float> const x{0, 0, 0, 1, 1, 0, 1, 1}, targets{0, 1, 1, 0};
  Xor net{42};
  Solver<Xor, MeanSquaredError{}, Sgd{.learning_rate = 0.1f, .momentum = 0.9f}> solver{net};
  float loss = 1;
  for (int step = 0; step < 1000; ++step) loss = solver.train_minibatch(x, targets);
  if (loss > 1e-2f) return 1;
#if defined CONSUMES_PERSIST
  save(net, "xor.juice");
  auto layer = dynamic::Layer::load(dynamic::Backend::like_static(), "xor.juice");
  for (std::size_t i = 0; i < 4; ++i) {
    if (layer.predict(x)[i] != net.forward(x)[static_cast<Index>(i)]) return 2;
  }
#endif
  return 0;
}
