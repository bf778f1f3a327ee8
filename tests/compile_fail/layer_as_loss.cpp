// error: Solver: needs a loss, or OwnLosses{}
// error: relu
#include <coldpress/coldpress.hpp>

using namespace coldpress;

using Net = Network<Sequential<Linear{3}>, Shape{4}>;

int main() {
  Net net;
  Solver<Net, ReLU{}> solver{net};
}
