// The transforms that a network's file keeps: what they are to samples without targets, to a config, and to a signal.
#pragma once

#include <coldpress/data/transform.hpp>

namespace coldpress::data {

/// The transforms as samples without targets go through them: a label that nobody gives is not turned into values. The
/// others keep their places, by which errors name them.
Transforms of_samples(Transforms transforms);

/// Whether `fitted` are the transforms of a config with the numbers that fit() found in data, or read from a file,
/// where the config leaves them open.
bool are_fitted_of(Transforms const& fitted, Transforms const& configured);

/// Throws UnsupportedError, which names the first one, if samples have transforms: for a network that plays a signal,
/// of which it also hears the silence before.
void check_plays(Transforms const& transforms);

}  // namespace coldpress::data
