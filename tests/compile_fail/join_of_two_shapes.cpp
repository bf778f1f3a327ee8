// error: an element-wise operation: its two inputs have different shapes
// only gcc: layer 3 (add1) gets {9} from wide and {8} from narrow: an element-wise
// only clang: layer(3, &"add"[0], {{9}}, {{8}}
#include <coldpress/coldpress.hpp>

using namespace coldpress;

constexpr auto net = graph([](auto x) {
  auto wide = x | Linear{9} | name("wide");
  auto narrow = x | Linear{8} | name("narrow");
  return wide + narrow;
});

int main() { Network<Graph<net>, Shape{4}> network; }
