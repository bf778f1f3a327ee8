// error: product: the inner extents of the matrices differ
#include <coldpress/coldpress.hpp>

using namespace coldpress;

constexpr auto net = graph([](auto a, auto b) { return matmul(a, b); });

int main() { Network<Graph<net>, Inputs{Shape{4, 3}, Shape{4, 3}}> network; }
