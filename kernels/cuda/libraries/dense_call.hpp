// Computes a dense layer's product in a pass: by cuBLASLt, or by loops on the host that follow the same description.
#pragma once

#include <libraries.hpp>

#include <coldpress/core/precision.hpp>

#include <memory>

#include "planned_call.hpp"

struct cublasLtContext;

namespace coldpress::cuda {

/// Opens cuBLASLt for the current device.
std::shared_ptr<cublasLtContext> open_cublaslt();

/// One pass of a dense layer: y = x Wᵀ + b, dx = dy W, or dW = dyᵀ x.
struct DenseProduct {
  LayerPass pass;
  Index batch, inputs, outputs, x_pitch, y_pitch;
  bool biased;
  bool add;  // adds the result to what is there
  bool tf32;
};

class DenseCall final : public PlannedCall {
 public:
  /// Chooses the fastest algorithm by cuBLASLt's heuristics for operands that are aligned to 16 bytes. Sums have a
  /// fixed order, and single precision unless `tf32` is set. If `cublaslt` is null, it can only be played on the host.
  /// Throws LibraryError.
  DenseCall(DenseProduct const& product, std::shared_ptr<cublasLtContext> cublaslt);
  ~DenseCall() override;
  Index workspace() const override;
  Sizes sizes() const override { return sizes_; }
  void put(void* stream, Operands const& operands) const override;
  void play(Operands const& operands) const override;

 private:
  struct Told;
  Sizes sizes_;
  std::unique_ptr<Told> told_;
  std::shared_ptr<cublasLtContext> cublaslt_;
};

}  // namespace coldpress::cuda
