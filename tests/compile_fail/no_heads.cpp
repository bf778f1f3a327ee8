// error: multi_head_attention: the heads must divide the features
#include <coldpress/coldpress.hpp>

using namespace coldpress;

constexpr auto net = graph([](auto x) { return blocks::multi_head_attention(x, 3); });

int main() { Network<Graph<net>, Shape{5, 8}> network; }
