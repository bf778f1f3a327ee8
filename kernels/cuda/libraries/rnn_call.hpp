// Computes a recurrent layer's passes by cuDNN.
#pragma once

// Descriptors, sizes and offsets are computed once per size of the minibatch.

#include <libraries.hpp>

#include <array>
#include <vector>

#include "owned_descriptor.hpp"
#include "planned_call.hpp"
#include "rnn_library.hpp"

namespace coldpress::cuda {

class RnnPlan {
 public:
  /// Computes in single precision unless `tf32` is set, with sums in a fixed order. If cuDNN's weights are ordered
  /// differently from `weight`, or have gaps, they are copied in each call. Throws LibraryError.
  RnnPlan(RnnTask const& task, bool tf32, RnnLibrary const& library, std::shared_ptr<cudnnContext> cudnn,
          float const* weight);
  RnnPlan(RnnPlan const&) = delete;

  RnnTask const& task() const { return task_; }
  bool weights_are_in_place() const { return !places_.weights; }
  Index workspace() const { return workspace_; }  // bytes
  /// Bytes of the memory that its calls share from forward to backward: LibraryCall::Operands::kept.
  Index kept() const { return kept_size_; }
  RnnValues values(void* kept) const { return values_at(kept, values_); }
  RnnValues gradients(void* kept) const { return values_at(kept, gradients_); }
  /// A call's operands: it reads the weights, or writes or adds to their gradient.
  LibraryCall const& call(LayerPass pass, bool add) const {
    return calls_[pass == LayerPass::weight_gradient && add ? 3 : static_cast<std::size_t>(pass)];
  }
  cudnnRNNDescriptor_t descriptor() const { return rnn_.get(); }

 private:
  class Call final : public PlannedCall {
   public:
    Call(RnnPlan const& plan, LayerPass pass, bool add) : plan_(plan), pass_(pass), add_(add) {}
    Index workspace() const override { return plan_.workspace(); }
    Sizes sizes() const override { return {0, plan_.task().weights.size(), 0, 0}; }
    void put(void* stream, Operands const& operands) const override;
    void play(Operands const& operands) const override;

   private:
    void run(Operands const& operands, cudaStream_t stream) const;
    RnnPlan const& plan_;
    LayerPass pass_;
    bool add_;
  };
  /// A run of weights that are contiguous on both sides: its offsets and its size in floats.
  struct Run {
    Index ours, theirs, size;
  };
  struct Offsets {  // in bytes from `kept`
    Index x, y, last;
  };
  static RnnValues values_at(void* kept, Offsets const& at) {
    auto const place = [&](Index offset) { return reinterpret_cast<float*>(static_cast<std::byte*>(kept) + offset); };
    return {place(at.x), place(at.y), place(at.last)};
  }
  /// Bytes of the outputs' gradients that are zero if only the last step is an output: those of all steps in y, and
  /// those of the lower layers in `last`.
  std::size_t without_gradient() const {
    Index const below = task_.output == RnnOutput::last_step ? task_.weights.layers - 1 : 0,
                row = task_.batch * task_.weights.directions * task_.weights.hidden;
    return static_cast<std::size_t>(gradients_.last - gradients_.y + below * row * static_cast<Index>(sizeof(float)));
  }
  void describe(bool tf32);
  void find_weights(float const* weight);
  void lay_out();

  RnnTask task_;
  RnnLibrary const& library_;
  std::shared_ptr<cudnnContext> cudnn_;
  OwnedDescriptor<cudnnDropoutDescriptor_t, cudnnCreateDropoutDescriptor, cudnnDestroyDropoutDescriptor> no_dropout_;
  OwnedDescriptor<cudnnRNNDescriptor_t, cudnnCreateRNNDescriptor, cudnnDestroyRNNDescriptor> rnn_;
  OwnedDescriptor<cudnnRNNDataDescriptor_t, cudnnCreateRNNDataDescriptor, cudnnDestroyRNNDataDescriptor> x_, y_;
  OwnedDescriptor<cudnnTensorDescriptor_t, cudnnCreateTensorDescriptor, cudnnDestroyTensorDescriptor> last_;
  std::vector<Run> runs_;
  std::size_t weight_space_ = 0, reserve_size_ = 0;  // bytes
  Index workspace_ = 0, kept_size_ = 0;
  Offsets values_{}, gradients_{};
  struct {
    Index reserve, weights, weight_gradient;  // the last two are 0 if the weights are in place
  } places_{};
  std::array<Call, 4> calls_;
};

}  // namespace coldpress::cuda
