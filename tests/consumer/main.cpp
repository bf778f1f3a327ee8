// A user's first program: learns xor; where files are to be had, saves it and loads it again with no type known, also
// on the reference where that is linked.
#include <coldpress/coldpress.hpp>

#if defined CONSUMES_PERSIST
#include <coldpress/persist.hpp>
#endif

#include <cmath>
#include <string>
#include <vector>

using namespace coldpress;
#if defined CONSUMES_REFERENCE
constexpr bool with_reference = true;
#elif defined CONSUMES_PERSIST
constexpr bool with_reference = false;
#endif
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
  try {
    auto exact = dynamic::Layer::load(dynamic::Backend{"cpu:reference"}, "xor.juice");
    if (!with_reference || !(std::abs(exact.predict(x)[0] - layer.predict(x)[0]) < 1e-5f)) return 3;
  } catch (UnsupportedError const& error) {
    bool const says = std::string{error.what()}.find("coldpress::dynamic_reference") != std::string::npos;
    if (with_reference || !says) return 4;
  }
#endif
  return 0;
}
