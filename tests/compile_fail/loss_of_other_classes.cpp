// error: output must have num_classes values
// only gcc: the loss negative_log_likelihood gets {9}: negative_log_likelihood: the network's output must have
// only clang: loss(&"negative_log_likelihood"[0], {{9}}
#include <coldpress/coldpress.hpp>

using namespace coldpress;

using Net = Network<Sequential<Linear{9}, LogSoftmax{}>, Shape{4}>;

int main() {
  Net net;
  Solver<Net, NegativeLogLikelihood{10}> solver{net};
}
