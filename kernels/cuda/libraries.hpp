// What libraries of NVIDIA's compute in the place of kernels, in programs that are linked with coldpress::cuda_libs.
#pragma once

#include <coldpress/backend/cuda/device.hpp>

namespace coldpress::cuda {

/// What of the products of a layer with its weights is computed.
enum class LayerPass { forward, input_gradient, weight_gradient };

/// For one network.
class Libraries {
 public:
  virtual ~Libraries() = default;
  /// Gathers a library's call for the pass that is under way; false: this is left to kernels. A dense layer is a
  /// convolution of one pixel. A gradient is in the place of what it is the gradient of. bias may be null, and is not
  /// looked at backward; `add`: the weights' gradient to what is there. Throws LibraryError.
  virtual bool multiply(LayerPass pass, ConvolutionGeometry const& geometry, Rows<float> x, float* weight, float* bias,
                        Rows<float> y, bool add) = 0;
};

/// Null in programs that are not linked with coldpress::cuda_libs.
using LibrariesMaker = std::shared_ptr<Libraries> (*)(std::shared_ptr<Device> device, Precision precision);
inline LibrariesMaker& libraries_maker() {
  static LibrariesMaker maker = nullptr;
  return maker;
}

}  // namespace coldpress::cuda
