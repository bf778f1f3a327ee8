// error: Solver: shard_optimizer is for ranks, which share parts; set SolverOptions::microbatch
#include <coldpress/coldpress.hpp>

using namespace coldpress;
using Net = Network<Sequential<Linear{2}>, Shape{3}>;

void train(Net& net) { Solver<Net, MeanSquaredError{}, Sgd{}, SolverOptions{.shard_optimizer = true}> solver{net}; }
