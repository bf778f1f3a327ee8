// error: a layer has weights, but no output of the network and no loss depends on its output
#include <coldpress/coldpress.hpp>

using namespace coldpress;

constexpr auto net = graph([](auto x) {
  x | Linear{5};
  return x | Linear{3};
});

int main() { Network<Graph<net>, Shape{4}> network; }
