// How a solver trains, as text for people.
#pragma once

#include <coldpress/dynamic/layer_config.hpp>
#include <coldpress/optim/monitoring.hpp>

namespace coldpress::command {

/// The optimizer and its policies, for example "sgd, learning rate 0.01, momentum 0.9, step policy: gamma 0.5 stepsize
/// 100".
std::string describe(dynamic::SolverConfig const& solver);

/// One line for each thing that a training does because of its own course; empty if there is none.
std::string describe(Monitoring const& monitoring);

/// The first difference between the solvers of a checkpoint and of a config, which are not equal.
std::string difference(dynamic::SolverConfig const& checkpoint, dynamic::SolverConfig const& config);

}  // namespace coldpress::command
