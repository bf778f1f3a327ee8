// What libraries of NVIDIA's compute in the place of kernels, in programs that are linked with coldpress::cuda_libs.
#pragma once

#include <coldpress/backend/cuda/device.hpp>

namespace coldpress::cuda {

/// What of a layer is computed.
enum class LayerPass { forward, input_gradient, weight_gradient };

/// A recurrent layer for a minibatch.
struct RnnTask {
  RnnType type;
  RecurrentWeights weights;
  Index batch, steps;
  RnnOutput output;
  bool training;
  bool operator==(RnnTask const&) const = default;
};
/// Its values, or their gradients, as libraries have them, without gaps.
struct RnnValues {
  float *x, *y;  // {steps, batch, features or units}
  float* last;   // {layers, directions, batch, hidden}: h after the last step
};
/// What computes it, and keeps it from forward to backward.
class LibraryRnn {
 public:
  virtual ~LibraryRnn() = default;
  virtual RnnTask const& task() const = 0;
  virtual RnnValues values() const = 0;
  virtual RnnValues gradients() const = 0;
  /// Gathers a library's call for the pass that is under way: from values to values, from gradients to gradients, or
  /// to the sink. Backward passes may be repeated. Throws LibraryError.
  virtual void gather(LayerPass pass, GradientSink<float> sink) = 0;
};

/// For one network.
class Libraries {
 public:
  virtual ~Libraries() = default;
  /// Gathers a library's call for the pass that is under way; false: this is left to kernels. A dense layer is a
  /// convolution of one pixel. A gradient is in the place of what it is the gradient of. bias may be null, and is not
  /// looked at backward; `add`: the weights' gradient to what is there. Throws LibraryError.
  virtual bool multiply(LayerPass pass, ConvolutionGeometry const& geometry, Rows<float> x, float* weight, float* bias,
                        Rows<float> y, bool add) = 0;
  /// Likewise a pooling's forward pass, which keeps nothing for backward.
  virtual bool pool(PoolingGeometry const& geometry, Rows<float> x, Rows<float> y) = 0;
  /// For the pass of this layer that is under way; null: it is left to kernels. From forward to backward it is known by
  /// its address. Throws LibraryError.
  virtual LibraryRnn* rnn(void const* layer, RnnTask const& task, float const* weight) = 0;
  /// Layers are gone, whose addresses others may have: drops what it keeps for each of them. The device has forgotten
  /// its passes.
  virtual void forget() = 0;
};

/// Null in programs that are not linked with coldpress::cuda_libs.
using LibrariesMaker = std::shared_ptr<Libraries> (*)(std::shared_ptr<Device> device, Precision precision);
inline LibrariesMaker& libraries_maker() {
  static LibrariesMaker maker = nullptr;
  return maker;
}

}  // namespace coldpress::cuda
