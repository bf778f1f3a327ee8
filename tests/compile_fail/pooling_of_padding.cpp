// error: pooling: padding must be less than the filter
#include <coldpress/coldpress.hpp>

using namespace coldpress;

int main() { Network<Sequential<Pooling{.filter_shape = 2, .padding = 2}>, Shape{1, 4, 4}> net; }
