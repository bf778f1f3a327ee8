// A library's call that was planned once, for the passes that make it.
#pragma once

#include <coldpress/backend/cuda/pass.hpp>

namespace coldpress::cuda {

class PlannedCall : public LibraryCall {
 public:
  /// Bytes of memory that it needs for itself while it runs.
  virtual Index workspace() const = 0;
  /// Floats of the operands that it reads or writes; 0: it has none of these.
  struct Sizes {
    Index x, weight, bias, y;
  };
  virtual Sizes sizes() const = 0;

 protected:
  /// A host plays it: what the workspace holds is nothing that others read.
  void spoil(Operands const& operands) const {
    if (operands.workspace) std::memset(operands.workspace, 0xff, static_cast<std::size_t>(workspace()));
  }
};

}  // namespace coldpress::cuda
