// error: an element-wise operation: its two inputs have different shapes
#include <coldpress/coldpress.hpp>

using namespace coldpress;

constexpr auto net = graph([](auto x) {
  auto wide = x | Linear{9} | name("wide");
  auto narrow = x | Linear{8} | name("narrow");
  return wide + narrow;
});

int main() { Network<Graph<net>, Shape{4}> network; }
