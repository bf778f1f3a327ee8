// Executes the plan of a convolution in a pass: by cuDNN, or by loops on the host that follow cuDNN's description.
#pragma once

#include <array>
#include <optional>

#include "convolution_plan.hpp"
#include "planned_call.hpp"

struct cudnnContext;

namespace coldpress::cuda {

/// Opens cuDNN for the current device. It does all its work in this stream, a cudaStream_t.
std::shared_ptr<cudnnContext> open_cudnn(void* stream);

/// What a plan computes, as read from its JSON, which is written by cuDNN.
class AskedConvolution {
 public:
  explicit AskedConvolution(std::string const& json);
  /// Computes it with plain loops and sums in double precision; at[id] is the memory of the tensor with this id.
  void compute(std::array<float*, 5> const& at) const;

 private:
  struct Tensor {
    std::size_t id;
    std::array<Index, 4> extents, strides;
    Index offset(Index a, Index b, Index c, Index d) const {
      return a * strides[0] + b * strides[1] + c * strides[2] + d * strides[3];
    }
  };
  LayerPass pass_;
  Tensor x_, weight_, y_;
  bool turned_, biased_;  // whether the filters are turned by 180 degrees, and whether there is a bias
  Tensor bias_, sum_;     // the bias, and the result with it
  double alpha_, beta_;
  std::array<Index, 2> padding_, stride_, dilation_;
};

class ConvolutionCall final : public PlannedCall {
 public:
  /// If `cudnn` is null, it can only be played on the host. A plan that was made from a GPU's properties is read again
  /// from its JSON for the handle.
  ConvolutionCall(ConvolutionPlan plan, Sizes const& sizes, std::shared_ptr<cudnnContext> cudnn);
  Index workspace() const override { return plan_.workspace(); }
  Sizes sizes() const override { return sizes_; }
  void put(void* stream, Operands const& operands) const override;
  void play(Operands const& operands) const override;

 private:
  std::shared_ptr<cudnnContext> cudnn_;
  ConvolutionPlan plan_;
  Sizes sizes_;
  std::optional<AskedConvolution> asked_;
};

}  // namespace coldpress::cuda
