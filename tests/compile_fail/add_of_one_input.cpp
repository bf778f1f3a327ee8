// error: an element-wise operation takes two inputs
#include <coldpress/coldpress.hpp>

using namespace coldpress;

constexpr auto net = graph([](auto x) { return x | Add{}; });

int main() { Network<Graph<net>, Shape{4}> network; }
