// error: Solver: the network has no parameters; there is nothing to train
#include <coldpress/coldpress.hpp>

using namespace coldpress;

using Net = Network<Sequential<TanH{}>, Shape{4}>;

int main() {
  Net net;
  Solver<Net, MeanSquaredError{}> solver{net};
}
