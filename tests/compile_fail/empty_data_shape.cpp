// error: shape: an extent must be at least 1
#include <coldpress/coldpress.hpp>

using namespace coldpress;

int main() { Network<Sequential<Linear{10}>, Shape{0}> net; }
