// error: window: the filter must not be larger than the padded input
// error: convolution
// only gcc: layer 1 (convolution1) gets {1, 1, 784}: window
// only clang: layer(1, &"convolution"[0], {{1, 1, 784}}
#include <coldpress/coldpress.hpp>

using namespace coldpress;

// 28 x 28 pixels, but as one row: its height is 1.
int main() { Network<Sequential<Convolution{.num_output = 2, .filter_shape = 3}, Linear{10}>, Shape{1, 1, 784}> net; }
