// error: give a value for each input
#include <coldpress/coldpress.hpp>

using namespace coldpress;

constexpr auto net = graph([](auto a, auto b) { return a + b; });

float first(Network<Graph<net>, Inputs{Shape{6}, Shape{6}}>& network, float const* x) {
  return network.forward(std::span{x, 6})[0];
}
