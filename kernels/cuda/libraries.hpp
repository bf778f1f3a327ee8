// NVIDIA's libraries, which replace kernels in programs that are linked with coldpress::cuda_libs.
#pragma once

#include <coldpress/cuda/device.hpp>

namespace coldpress::cuda {

/// The parts of a layer's computation.
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
/// The values of a recurrent layer, or their gradients, in the libraries' layout, which has no gaps.
struct RnnValues {
  float *x, *y;  // {steps, batch, features or units}
  float* last;   // {layers, directions, batch, hidden}: h after the last step
};
/// Computes a recurrent layer, and keeps what its backward passes need.
class LibraryRnn {
 public:
  virtual ~LibraryRnn() = default;
  virtual RnnTask const& task() const = 0;
  virtual RnnValues values() const = 0;
  virtual RnnValues gradients() const = 0;
  /// Gathers a library's call for the current pass: from values to values, from gradients to gradients, or to the sink.
  /// Backward passes may be repeated. Throws LibraryError.
  virtual void gather(LayerPass pass, GradientSink<float> sink) = 0;
};

/// The libraries of one network.
class Libraries {
 public:
  virtual ~Libraries() = default;
  /// Gathers a library's call for the current pass; returns false if the work is left to kernels. A dense layer counts
  /// as a convolution of one pixel. A gradient takes the place of its value. `bias` may be null, and is ignored in
  /// backward passes; `add` says that the weights' gradient is added to what is there. Throws LibraryError.
  virtual bool multiply(LayerPass pass, ConvolutionGeometry const& geometry, Rows<float> x, float* weight, float* bias,
                        Rows<float> y, bool add) = 0;
  /// The same for a pooling's forward pass, which keeps nothing for backward.
  virtual bool pool(PoolingGeometry const& geometry, Rows<float> x, Rows<float> y) = 0;
  /// The library's recurrent layer for the current pass, or null if the work is left to kernels. Forward and backward
  /// passes of a layer are matched by its address. Throws LibraryError.
  virtual LibraryRnn* rnn(void const* layer, RnnTask const& task, float const* weight) = 0;
  /// Drops everything that is kept per layer, because layers were destroyed and others may get their addresses. The
  /// device must have dropped its recorded graphs before.
  virtual void forget() = 0;
};

/// Makes Libraries; null in programs that are not linked with coldpress::cuda_libs.
using LibrariesMaker = std::shared_ptr<Libraries> (*)(std::shared_ptr<Device> device, Precision precision);
inline LibrariesMaker& libraries_maker() {
  static LibrariesMaker maker = nullptr;
  return maker;
}

}  // namespace coldpress::cuda
