// error: outputs
#include <coldpress/coldpress.hpp>

using namespace coldpress;

constexpr auto net = graph([](auto x) { return x | Linear{.outputs = 3} | ReLU{}; });

int main() {
  Network<Graph<net>, Shape{4}> network;
  float const x[4] = {};
  network.forward(x);
}
