// Ten dilated convolutions of 16 channels over time, trained on sequences and then given one step at a time.
#include <coldpress/coldpress.hpp>

#include <vector>

using namespace coldpress;

template <Index step>
constexpr Convolution dilated{.num_output = 16, .filter_shape = 3, .dilation = step};
using Layers = Sequential<dilated<1>, TanH{}, dilated<2>, TanH{}, dilated<4>, TanH{}, dilated<8>, TanH{}, dilated<16>,
                          TanH{}, dilated<32>, TanH{}, dilated<64>, TanH{}, dilated<128>, TanH{}, dilated<256>, TanH{},
                          dilated<512>, TanH{}, Convolution{.num_output = 1, .filter_shape = 1}>;
using Offline = Network<Layers, Shape{1200, 1}, Batch<4>>;
using Live = Network<Layers, Shape{1}, Batch<1>>;

static Offline offline{7};
static Solver<Offline, MeanSquaredError{}, Adam{}> solver{offline};
static Live live{7};

int main() {
  std::vector<float> const sequences(4 * 1200, 0.5f);
  float const loss = solver.train_minibatch(sequences, sequences);
  return live.step(std::vector{0.5f})[0] + offline.forward(sequences)[0] < loss ? 0 : 1;
}
