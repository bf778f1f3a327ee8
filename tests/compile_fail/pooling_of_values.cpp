// error: pooling: the input must be {channels, height, width} or {channels, depth, height, width}
// only gcc: layer 2 (pooling1) gets {64}: pooling
// only clang: layer(2, &"pooling"[0], {{64}}
#include <coldpress/coldpress.hpp>

using namespace coldpress;

int main() { Network<Sequential<Linear{64}, Pooling{.filter_shape = 2, .stride = 2}, Linear{10}>, Shape{1, 8, 8}> net; }
