// error: it takes one input, neither none nor several
// error: linear
// only gcc: layer 1 (linear1) gets {4} and {5}
// only clang: layer(1, &"linear"[0], {{4}}, {{5}}
#include <coldpress/coldpress.hpp>

using namespace coldpress;

constexpr auto net = graph([](auto x, auto y) { return apply(Linear{3}, x, y); });

int main() { Network<Graph<net>, Inputs{Shape{4}, Shape{5}}> network; }
