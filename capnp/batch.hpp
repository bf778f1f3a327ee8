// The batch, which is part of shapes in files but not in memory.
#pragma once

#include "config.hpp"

#include <coldpress/persist/model.hpp>

#include <span>

namespace coldpress::persist {

/// Splits every shape of `file` into batch and sample, and returns the batch, or 1 if there is no shape. The first
/// extent is the batch. If the shapes that follow or the weights contradict that for the inputs, the inputs are samples
/// without a batch. Shapes that the file declares to be those of one sample stay as they are.
///
/// Throws ConfigError if no interpretation fits, if nothing tells whether a single extent is the batch, or if batches
/// differ. `of_juice` says that Juice may have written the file, whose recurrent layers make no sense beyond one step;
/// these cause UnsupportedError.
Index drop_batch(FileConfig& file, std::span<NamedTensor const> weights, bool of_juice = false);

/// Throws ConfigError, with both readings, if a shape in a configuration that people write can be read with and without
/// a batch, both readings fit the network, and the resulting networks differ. A first extent that equals `batch`, the
/// size of the minibatches, is the batch if that is above 1.
void check_one_meaning(FileConfig const& file, Index batch);

/// Throws ConfigError if the shapes or weights of a configuration that was just written contradict each other, so that
/// drop_batch could not find its samples again.
void check_written(FileConfig file, std::span<NamedTensor const> weights);

}  // namespace coldpress::persist
