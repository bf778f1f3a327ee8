// error: window: stride must be from 1 to 2^30
// error: convolution
#include <coldpress/coldpress.hpp>

using namespace coldpress;

int main() {
  Network<Sequential<Convolution{.num_output = 2, .filter_shape = 3, .stride = 0}, ReLU{}, Linear{10}>, Shape{1, 8, 8}>
      net;
}
