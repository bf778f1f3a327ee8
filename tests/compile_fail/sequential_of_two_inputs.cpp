// error: network: a Sequential has one input; use a Graph for several
#include <coldpress/coldpress.hpp>

using namespace coldpress;

int main() { Network<Sequential<Linear{3}>, Inputs{Shape{4}, Shape{4}}> network; }
