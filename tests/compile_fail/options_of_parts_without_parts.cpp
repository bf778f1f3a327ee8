// error: Solver: bfloat16_gradients and shard_optimizer need parts; set SolverOptions::microbatch
#include <coldpress/coldpress.hpp>

using namespace coldpress;
using Net = Network<Sequential<Linear{2}>, Shape{3}>;

void train(Net& net) { Solver<Net, MeanSquaredError{}, Sgd{}, SolverOptions{.bfloat16_gradients = true}> solver{net}; }
