// A table of cuDNN's functions for recurrent layers, or of their emulation on the host.
#pragma once

#include <cuda_runtime_api.h>
#include <cudnn.h>

namespace coldpress::cuda {

/// The functions that use a GPU. Descriptors are cuDNN's own in both cases.
struct RnnLibrary {
  decltype(&cudnnGetRNNWeightSpaceSize) weight_space_size;
  decltype(&cudnnGetRNNWeightParams) weight_params;
  decltype(&cudnnGetRNNTempSpaceSizes) temp_space_sizes;
  decltype(&cudnnRNNForward) forward;
  decltype(&cudnnRNNBackwardData_v8) backward_data;
  decltype(&cudnnRNNBackwardWeights_v8) backward_weights;
  cudaError_t (*set)(void*, int, std::size_t, cudaStream_t);
  cudaError_t (*copy)(void*, void const*, std::size_t, cudaMemcpyKind, cudaStream_t);
};
RnnLibrary const& cudnn_rnn();

/// Loops that read descriptors' attributes and memory. They overwrite what is kept for backward, as cuDNN may.
RnnLibrary const& emulated_rnn();
/// Whether the emulation has weights in another order than coldpress, with gaps between them.
inline bool emulated_weights_are_apart = false;

}  // namespace coldpress::cuda
