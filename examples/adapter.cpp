// Code that accepts any network, whether it has a static type or comes from a file.
// ctest:
#include <coldpress/coldpress.hpp>
#include <coldpress/dynamic/adapter.hpp>
#include <coldpress/persist.hpp>

#include <cstdio>
#include <vector>

using namespace coldpress;

using Xor = Network<Sequential<Linear{16}, TanH{}, Linear{1}>, Shape{2}>;

/// Knows neither the layers nor where they came from.
float ask(dynamic::Layer& layer, float a, float b) { return layer.predict(std::vector{a, b})[0]; }

int main() {
  Xor net{42};
  save(net, "adapted.juice");

  auto adapted = dynamic::Layer::adapt(net);  // borrows net and its compiled code; adapt(std::move(net)) would own it
  auto loaded = dynamic::Layer::load(dynamic::Backend::like_static(), "adapted.juice");
  auto typed = load<Xor>("adapted.juice");  // throws MismatchError unless the file's network is this type

  float const a = ask(adapted, 0, 1), b = ask(loaded, 0, 1), c = typed.forward(std::vector{0.0f, 1.0f})[0];
  std::printf("adapted %.9g, loaded %.9g, typed %.9g\n", a, b, c);
  return a == b && b == c ? 0 : 1;  // the same bits, all three
}
