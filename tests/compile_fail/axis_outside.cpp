// error: axis: the sample has no axis of this number
#include <coldpress/coldpress.hpp>

using namespace coldpress;

constexpr auto net = graph([](auto x) { return x | SoftmaxOver{.axis = 2} | Linear{3}; });

int main() { Network<Graph<net>, Shape{6}> network; }
