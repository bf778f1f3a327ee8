// error: shape: an input has more than 2^40 values
#include <coldpress/coldpress.hpp>

using namespace coldpress;

int main() { Network<Sequential<ReLU{}, Linear{2}>, Shape{Index{1} << 21, Index{1} << 20}> net; }
