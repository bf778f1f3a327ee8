// error: output: the network has no output of this name
#include <coldpress/coldpress.hpp>

using namespace coldpress;

constexpr auto net = graph([](auto x) { return x | Linear{4} | name("scores"); });

float first(Network<Graph<net>, Shape{6}> const& network) { return network.output<"score">()[0]; }
