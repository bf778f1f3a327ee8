// The reference backend for networks that are known only at run time: its operations are scalar loops.
#pragma once

#include <coldpress/backend/reference.hpp>
#include <coldpress/core/layer.hpp>

namespace coldpress::dynamic {

struct RuntimeReference : Reference<float> {
  template <class L>
  ErasedOp erased() const {
    using Op = decltype(L{}.op(0));
    return {
        nullptr,
        [](void const* op, float* x, ErasedOp::Block block, At at) {
          for_block(block, [&](Index i, Index j, Index c) {
            x[c] = static_cast<Op const*>(op)->value(x[c], At{at.row + i, at.column + j, at.step});
          });
        },
        [](void const* op, float const* x, float const* y, float* slope, bool multiply, ErasedOp::Block block, At at) {
          for_block(block, [&](Index i, Index j, Index c) {
            float const g =
                static_cast<Op const*>(op)->gradient(x ? x[c] : 0, y[c], At{at.row + i, at.column + j, at.step});
            slope[c] = multiply ? slope[c] * g : g;
          });
        },
        Op::needs_input};
  }
  template <class L>
  ErasedJoin erased_join() const {
    using Op = decltype(L{}.join());
    return {nullptr, [](void const* op, float* x, float const* other, Index pitch, Index, ErasedOp::Block block) {
              for_block(block, [&](Index i, Index j, Index c) {
                x[c] = static_cast<Op const*>(op)->value(x[c], other[i * pitch + j]);
              });
            }};
  }

 private:
  template <class F>
  static void for_block(ErasedOp::Block block, F f) {
    for (Index i = 0; i < block.rows; ++i) {
      for (Index j = 0; j < block.columns; ++j) f(i, j, i * block.pitch + j);
    }
  }
};

}  // namespace coldpress::dynamic
