// The batch, which is in the shapes of files and not in those of memory.
#pragma once

#include "config.hpp"

#include <coldpress/persist/model.hpp>

#include <span>

namespace coldpress::persist {

/// Splits every shape of `file` into batch and sample, and returns the batch, 1 where there is no shape. The first
/// extent is the batch; where the shapes that follow or the weights contradict that for the inputs, the inputs are
/// samples without a batch. Throws ConfigError where nothing fits, where nothing tells a lone extent from a batch, and
/// where batches differ. `of_juice`: a file that Juice may have written, whose recurrent layers have no meaning beyond
/// one step; then UnsupportedError. Shapes that the file gives as those of one sample stay as they are.
Index drop_batch(FileConfig& file, std::span<NamedTensor const> weights, bool of_juice = false);

/// Throws ConfigError, with both readings, where a configuration that people write has a shape that can be a batch and
/// a sample or a sample alone, both lead through the network, and the networks are not the same. A first extent of
/// `batch`, the samples of a minibatch, is the batch where it is above 1.
void check_one_meaning(FileConfig const& file, Index batch);

/// Throws ConfigError where shapes or weights contradict each other in a configuration that was just written, and would
/// keep drop_batch from finding its samples again.
void check_written(FileConfig file, std::span<NamedTensor const> weights);

}  // namespace coldpress::persist
