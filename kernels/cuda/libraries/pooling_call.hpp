// Computes a pooling's forward pass by cuDNN, or by loops on the host that read the same descriptors.
#pragma once

#include <coldpress/core/geometry.hpp>

#include <cudnn.h>

#include "owned_descriptor.hpp"
#include "planned_call.hpp"

namespace coldpress::cuda {

/// A pooling of a minibatch of images or volumes.
struct PoolingTask {
  PoolingGeometry geometry;
  Index batch, x_pitch, y_pitch;
};
/// Whether cuDNN, which rounds down, gives outputs of the same extents.
bool has_library(PoolingGeometry const& geometry);

class PoolingCall final : public PlannedCall {
 public:
  /// If `cudnn` is null, it can only be played on the host. Throws LibraryError.
  PoolingCall(PoolingTask const& task, std::shared_ptr<cudnnContext> cudnn);
  Index workspace() const override { return 0; }
  Sizes sizes() const override { return sizes_; }
  void put(void* stream, Operands const& operands) const override;
  void play(Operands const& operands) const override;

 private:
  void run(decltype(&cudnnPoolingForward) forward, Operands const& operands) const;
  Sizes sizes_;
  std::shared_ptr<cudnnContext> cudnn_;
  OwnedDescriptor<cudnnPoolingDescriptor_t, cudnnCreatePoolingDescriptor, cudnnDestroyPoolingDescriptor> pooling_;
  OwnedDescriptor<cudnnTensorDescriptor_t, cudnnCreateTensorDescriptor, cudnnDestroyTensorDescriptor> x_, y_;
};

/// The emulation of cudnnPoolingForward, which reads the descriptors' attributes.
cudnnStatus_t emulated_pooling(cudnnHandle_t, cudnnPoolingDescriptor_t pooling, void const* alpha,
                               cudnnTensorDescriptor_t of_x, void const* x, void const* beta,
                               cudnnTensorDescriptor_t of_y, void* y);

}  // namespace coldpress::cuda
