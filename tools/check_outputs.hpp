// Compares what a converted network computes with what the other framework did.
#pragma once

#include <coldpress/persist/model.hpp>

#include <string>

namespace coldpress::command {

/// Runs the network on the samples of a .npy file and says the largest difference from the outputs in another one, both
/// {N, ...}. Throws ShapeError if the files do not fit the network, and MismatchError if the difference is more than 1
/// % of the largest output, which is no matter of rounding.
void check_outputs(persist::Model const& model, std::string const& inputs, std::string const& outputs);

}  // namespace coldpress::command
