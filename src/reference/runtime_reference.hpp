// The reference backend of networks that are known only at run time; its operations are loops over scalars.
#pragma once

#include <coldpress/backend/erased.hpp>
#include <coldpress/backend/reference.hpp>
#include <coldpress/core/layer.hpp>

namespace coldpress::dynamic {

template <class Real>
struct RuntimeReference : Reference<Real> {
  /// All gradients go through memory, which changes no bits, so only one kind of sink has to be compiled.
  template <class Optimizer>
  static constexpr bool fuses_update = false;

  template <class L>
  BasicErasedOp<Real> erased() const {
    return cpu::erased_op_of<Real, L>();
  }
  template <class L>
  BasicErasedJoin<Real> erased_join() const {
    return cpu::erased_join_of<Real, L>();
  }
};
static_assert(concepts::Backend<RuntimeReference<float>> && concepts::Backend<RuntimeReference<double>>);

}  // namespace coldpress::dynamic
