// error: linear: output_size must be at least 1
#include <coldpress/coldpress.hpp>

using namespace coldpress;

int main() { Network<Sequential<Linear{0}>, Shape{4}> net; }
