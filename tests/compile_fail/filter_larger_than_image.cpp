// error: window: the filter must not be larger than the padded input
// only gcc: layer 1 (convolution1) gets {1, 4, 4}: window
// only clang: layer(1, &"convolution"[0], {{1, 4, 4}}, &"window
#include <coldpress/coldpress.hpp>

using namespace coldpress;

int main() { Network<Sequential<Convolution{.num_output = 2, .filter_shape = 5}>, Shape{1, 4, 4}> net; }
