// The batch, which is in the shapes of files and not in those of memory.
#pragma once

#include "config.hpp"

#include <coldpress/persist/model.hpp>

#include <span>

namespace coldpress::persist {

/// Splits every shape of `file` into batch and sample, and returns the batch, 1 where there is no shape. The first
/// extent is the batch; where the shapes that follow or the weights contradict that for the inputs, the inputs are
/// samples without a batch. Throws ConfigError where nothing fits, where nothing tells a lone extent from a batch, and
/// where batches differ. `of_juice`: a file that Juice wrote, whose recurrent layers have no meaning beyond one step;
/// then UnsupportedError.
Index drop_batch(FileConfig& file, std::span<NamedTensor const> weights, bool of_juice = false);

/// Throws ConfigError where shapes or weights contradict each other in a configuration that was just written, and would
/// keep drop_batch from finding its samples again.
void check_written(FileConfig file, std::span<NamedTensor const> weights);

}  // namespace coldpress::persist
