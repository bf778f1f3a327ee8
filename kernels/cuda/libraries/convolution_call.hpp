// A convolution's plan in a pass: executed by cuDNN, or by loops that read what cuDNN says of it.
#pragma once

#include <array>
#include <optional>

#include "convolution_plan.hpp"
#include "planned_call.hpp"

struct cudnnContext;

namespace coldpress::cuda {

/// cuDNN for the current device. All that it is asked for, it does in this stream, a cudaStream_t.
std::shared_ptr<cudnnContext> open_cudnn(void* stream);

/// What a plan asks for, in cuDNN's own words: those of its JSON.
class AskedConvolution {
 public:
  explicit AskedConvolution(std::string const& json);
  /// By plain loops, with sums in double precision; at[id] is the memory of the tensor of this id.
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
  bool turned_, biased_;  // the filters are; there is a bias
  Tensor bias_, sum_;     // which is added, and where the sum goes
  double alpha_, beta_;
  std::array<Index, 2> padding_, stride_, dilation_;
};

class ConvolutionCall final : public PlannedCall {
 public:
  /// Without cuDNN it can be played alone. A plan that was made from a GPU's properties is read anew by cuDNN's handle
  /// from its JSON.
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
