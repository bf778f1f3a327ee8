// The transforms that a network's file keeps: which of them samples without targets go through, whether they are those
// of a config, and whether a signal can be played with them.
#pragma once

#include <coldpress/data/transform.hpp>

namespace coldpress::data {

/// The transforms as samples without targets go through them: labels are not turned into values, since there are
/// none. The others keep their places, by which errors name them.
Transforms of_samples(Transforms transforms);

/// Whether `fitted` are the transforms of a config with the numbers that fit() found in data, or read from a file,
/// where the config leaves them open.
bool are_fitted_of(Transforms const& fitted, Transforms const& configured);

/// For a network that a signal is played through, which also hears the silence before it: throws UnsupportedError,
/// which names the first transform, if there is one for samples.
void check_plays(Transforms const& transforms);

}  // namespace coldpress::data
