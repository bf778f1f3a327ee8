// error: two outputs are the same value, or views of one
#include <coldpress/coldpress.hpp>

using namespace coldpress;

constexpr auto net = graph([](auto x) {
  auto const y = x | Linear{4};
  return outputs(y, y | Reshape{{2, 2}});
});

int main() { Network<Graph<net>, Shape{6}> network; }
