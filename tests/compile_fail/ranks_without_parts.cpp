// error: distribute_over: ranks share parts; set SolverOptions::microbatch
#include <coldpress/coldpress.hpp>

using namespace coldpress;
using Net = Network<Sequential<Linear{2}>, Shape{3}>;

void divide(Solver<Net, MeanSquaredError{}>& solver, Communicator& ranks) { solver.distribute_over(&ranks); }
