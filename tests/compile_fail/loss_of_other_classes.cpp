// error: output must have num_classes values
#include <coldpress/coldpress.hpp>

using namespace coldpress;

using Net = Network<Sequential<Linear{9}, LogSoftmax{}>, Shape{4}>;

int main() {
  Net net;
  Solver<Net, NegativeLogLikelihood{10}> solver{net};
}
