// error: concat: the inputs differ in another extent than the axis's
#include <coldpress/coldpress.hpp>

using namespace coldpress;

constexpr auto net = graph([](auto a, auto b) { return concat(along{1}, a, b) | Linear{3}; });

int main() { Network<Graph<net>, Inputs{Shape{4, 3}, Shape{5, 3}}> network; }
