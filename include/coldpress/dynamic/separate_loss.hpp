// A loss on outputs that are in memory already, apart from the network that made them: the loss layer's and the
// adapter's.
#pragma once

#include <coldpress/backend/backend.hpp>
#include <coldpress/core/memory.hpp>

#include <span>

namespace coldpress::dynamic {

struct SeparateLoss {
  float mean;
  std::span<float const> gradient;  // of the sum, laid out as the outputs; in `memory`
};

/// Outputs and targets of `batch` samples, one after another, which suit the loss. Primitives: those of a backend.
template <class LossType, class Primitives>
SeparateLoss separate_loss(LossType const& loss, Primitives const& primitives, std::span<float const> y,
                           std::span<float const> target, Index batch, HeapMemory<float>& memory) {
  Index const size = static_cast<Index>(y.size()) / batch, pitch = Primitives::pitch(size);  // kernels write whole rows
  memory.reserve(batch * (pitch + size));
  Rows<float> const padded{memory.data(), batch, size, pitch};
  Rows<float> const outputs{const_cast<float*>(y.data()), batch, size, size};  // read only: nothing is normalised
  float const mean = primitives.loss(loss, Normalization::none, outputs, outputs, target.data(), padded);
  float* const gradient = memory.data() + batch * pitch;
  for (Index i = 0; i < batch; ++i) std::copy_n(padded.row(i), size, gradient + i * size);
  return {mean, {gradient, y.size()}};
}

}  // namespace coldpress::dynamic
