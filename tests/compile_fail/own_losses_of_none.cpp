// error: Solver: the network has no losses of its own
#include <coldpress/coldpress.hpp>

using namespace coldpress;

using Net = Network<Sequential<Linear{3}>, Shape{4}>;

int main() {
  Net net;
  Solver<Net, OwnLosses{}> solver{net};
}
