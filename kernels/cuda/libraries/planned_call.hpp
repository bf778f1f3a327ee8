// A library's call that is planned once and made in many passes.
#pragma once

#include <coldpress/cuda/pass.hpp>

namespace coldpress::cuda {

class PlannedCall : public LibraryCall {
 public:
  /// Bytes of scratch memory that the call needs while it runs.
  virtual Index workspace() const = 0;
  /// The sizes, in floats, of the operands that the call reads or writes; 0 for those that it does not use.
  struct Sizes {
    Index x, weight, bias, y;
  };
  virtual Sizes sizes() const = 0;

 protected:
  /// Fills the workspace with NaN when the host plays the call, so that nothing can depend on its contents.
  void spoil(Operands const& operands) const {
    if (operands.workspace) std::memset(operands.workspace, 0xff, static_cast<std::size_t>(workspace()));
  }
};

}  // namespace coldpress::cuda
