// Operations with their types erased: what a network that is known only at run time applies to blocks of rows.
#pragma once

#include <coldpress/backend/epilogue.hpp>
#include <coldpress/layers/relu.hpp>
#include <coldpress/layers/sigmoid.hpp>
#include <coldpress/layers/tanh.hpp>

namespace coldpress {
namespace cpu::inline COLDPRESS_ISA {

// A block may come from a level with fewer lanes than these: it ends where its columns do.
template <class Op>
void value_block(void const* op, float* x, ErasedOp::Block block, At at) {
  Op const& f = *static_cast<Op const*>(op);
  for (Index i = 0; i < block.rows; ++i) {
    for (Index j = 0; j < block.columns; j += lanes) {
      float* const p = x + i * block.pitch + j;
      Index const left = block.columns - j;
      store_row(p, f.value(load_row(p, left), At{at.row + i, at.column + j, at.step}), left);
    }
  }
}
template <class Op>
void gradient_block(void const* op, float const* x, float const* y, float* slope, bool multiply, ErasedOp::Block block,
                    At at) {
  Op const& f = *static_cast<Op const*>(op);
  for (Index i = 0; i < block.rows; ++i) {
    for (Index j = 0; j < block.columns; j += lanes) {
      Index const c = i * block.pitch + j, left = block.columns - j;
      Vector const g = f.gradient(x ? load_row(x + c, left) : Vector{}, load_row(y + c, left),
                                  At{at.row + i, at.column + j, at.step});
      store_row(slope + c, multiply ? load_row(slope + c, left) * g : g, left);
    }
  }
}
template <>
struct CommonOps<ErasedChain> {
  using List = TypeList<ReLUOp, TanHOp, SigmoidOp>;
};
/// `op` is still to be set.
template <class Op>
constexpr ErasedOp erased_op() {
  return {nullptr, value_block<Op>, gradient_block<Op>, Op::needs_input};
}

template <class Op>
void join_block(void const* op, float* x, float const* other, Index pitch, Index columns, ErasedOp::Block block) {
  Op const& f = *static_cast<Op const*>(op);
  for (Index i = 0; i < block.rows; ++i) {
    for (Index j = 0; j < block.columns; j += lanes) {
      float* const p = x + i * block.pitch + j;
      Index const left = block.columns - j;
      store_row(p, f.value(load_row(p, left), load_row(other + i * pitch + j, columns - j)), left);
    }
  }
}
template <class Op>
constexpr ErasedJoin erased_join() {
  return {nullptr, join_block<Op>};
}

}  // namespace cpu::inline COLDPRESS_ISA

namespace detail {
template <class F>
void for_block(ErasedOp::Block block, F f) {
  for (Index i = 0; i < block.rows; ++i) {
    for (Index j = 0; j < block.columns; ++j) f(i, j, i * block.pitch + j);
  }
}
}  // namespace detail

/// The same in scalar loops, for the reference.
template <class Op>
constexpr ErasedOp scalar_op() {
  return {
      nullptr,
      [](void const* op, float* x, ErasedOp::Block block, At at) {
        detail::for_block(block, [&](Index i, Index j, Index c) {
          x[c] = static_cast<Op const*>(op)->value(x[c], At{at.row + i, at.column + j, at.step});
        });
      },
      [](void const* op, float const* x, float const* y, float* slope, bool multiply, ErasedOp::Block block, At at) {
        detail::for_block(block, [&](Index i, Index j, Index c) {
          float const g =
              static_cast<Op const*>(op)->gradient(x ? x[c] : 0, y[c], At{at.row + i, at.column + j, at.step});
          slope[c] = multiply ? slope[c] * g : g;
        });
      },
      Op::needs_input};
}

}  // namespace coldpress
