// error: slice: begin and end must enclose a part of the axis
#include <coldpress/coldpress.hpp>

using namespace coldpress;

constexpr auto net = graph([](auto x) { return slice(x, 2, 9) | Linear{3}; });

int main() { Network<Graph<net>, Shape{6}> network; }
