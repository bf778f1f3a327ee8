// error: window: the filter must not be larger than the padded input
#include <coldpress/coldpress.hpp>

using namespace coldpress;

int main() { Network<Sequential<Convolution{.num_output = 2, .filter_shape = 5}>, Shape{1, 4, 4}> net; }
