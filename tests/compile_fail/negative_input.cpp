// error: shape: an extent must be at least 1, and an input has at least one
#include <coldpress/coldpress.hpp>

using namespace coldpress;

int main() { Network<Sequential<Linear{2}>, Shape{2, -3}> net; }
