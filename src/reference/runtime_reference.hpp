// The reference backend for networks that are known only at run time: its operations are scalar loops.
#pragma once

#include <coldpress/backend/erased.hpp>
#include <coldpress/backend/reference.hpp>
#include <coldpress/core/layer.hpp>

namespace coldpress::dynamic {

struct RuntimeReference : Reference<float> {
  /// Gradients go through memory, which changes no bit: one kind of sink to compile.
  template <class Optimizer>
  static constexpr bool fuses_update = false;

  template <class L>
  ErasedOp erased() const {
    return scalar_op<decltype(L{}.op(0))>();
  }
  template <class L>
  ErasedJoin erased_join() const {
    using Op = decltype(L{}.join());
    return {nullptr, [](void const* op, float* x, float const* other, Index pitch, Index, ErasedOp::Block block) {
              coldpress::detail::for_block(block, [&](Index i, Index j, Index c) {
                x[c] = static_cast<Op const*>(op)->value(x[c], other[i * pitch + j]);
              });
            }};
  }
};
static_assert(concepts::Backend<RuntimeReference>);

}  // namespace coldpress::dynamic
