// The transforms that a network's file keeps: what they are to samples without targets, and to a config.
#pragma once

#include <coldpress/data/transform.hpp>

namespace coldpress::data {

/// The transforms as samples without targets go through them: a label that nobody gives is not turned into values. The
/// others keep their places, by which errors name them.
Transforms of_samples(Transforms transforms);

/// Whether `fitted` are the transforms of a config with the numbers that fit() found in data, or read from a file,
/// where the config leaves them open.
bool are_fitted_of(Transforms const& fitted, Transforms const& configured);

}  // namespace coldpress::data
