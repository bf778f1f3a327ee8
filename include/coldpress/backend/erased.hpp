// Pointwise operations with erased types, which networks known only at run time apply to blocks of rows.
#pragma once

#include <coldpress/backend/signals.hpp>
#include <coldpress/layers.hpp>

namespace coldpress::cpu::inline COLDPRESS_ISA {

namespace detail {
/// The numbers of which V, a vector or one number, consists.
template <class V>
using NumberOf = std::conditional_t<std::is_floating_point_v<V>, V, float>;
/// Calls f(row, column, columns left) for every V of a block. The block may come from an instruction set level with
/// fewer lanes than V has, so it ends at its columns, not at a multiple of the lanes.
template <class V, class F>
void for_block(ErasedBlock block, F f) {
  constexpr Index lanes = sizeof(V) / sizeof(NumberOf<V>);
  for (Index i = 0; i < block.rows; ++i) {
    for (Index j = 0; j < block.columns; j += lanes) f(i, j, block.columns - j);
  }
}
template <class V>
V load_of(NumberOf<V> const* p, Index left) {
  if constexpr (std::is_floating_point_v<V>) {
    return *p;
  } else {
    return load_row<V>(p, left);
  }
}
template <class V>
void store_of(NumberOf<V>* p, V v, Index left) {
  if constexpr (std::is_floating_point_v<V>) {
    *p = v;
  } else {
    store_row(p, v, left);
  }
}
}  // namespace detail

/// An operation on vectors of a CPU, or on single numbers as the reference computes. The caller sets `op`.
template <class V, class Op, class T = detail::NumberOf<V>>
constexpr BasicErasedOp<T> erased_op(int id) {
  return {.id = id,
          .needs_input = Op::needs_input,
          .op = nullptr,
          .value =
              [](void const* op, T* x, ErasedBlock block, Position at) {
                Op const& f = *static_cast<Op const*>(op);
                detail::for_block<V>(block, [&](Index i, Index j, Index left) {
                  T* const p = x + i * block.pitch + j;
                  detail::store_of(
                      p, f.value(detail::load_of<V>(p, left), Position{at.row + i, at.column + j, at.step}), left);
                });
              },
          .gradient =
              [](void const* op, T const* x, T const* y, T* derivative, bool multiply, ErasedBlock block, Position at) {
                Op const& f = *static_cast<Op const*>(op);
                detail::for_block<V>(block, [&](Index i, Index j, Index left) {
                  Index const c = i * block.pitch + j;
                  V const g = f.gradient(x ? detail::load_of<V>(x + c, left) : V{}, detail::load_of<V>(y + c, left),
                                         Position{at.row + i, at.column + j, at.step});
                  detail::store_of(derivative + c, multiply ? detail::load_of<V>(derivative + c, left) * g : g, left);
                });
              }};
}
template <class V, class Op, class T = detail::NumberOf<V>>
constexpr BasicErasedJoin<T> erased_join(int id) {
  return {id, nullptr, [](void const* op, T* x, T const* other, Index pitch, Index columns, ErasedBlock block) {
            Op const& f = *static_cast<Op const*>(op);
            detail::for_block<V>(block, [&](Index i, Index j, Index left) {
              T* const p = x + i * block.pitch + j;
              detail::store_of(
                  p, f.value(detail::load_of<V>(p, left), detail::load_of<V>(other + i * pitch + j, columns - j)),
                  left);
            });
          }};
}
/// The operation of layer L, in a backend that computes with V.
template <class V, class L>
constexpr auto erased_op_of() {
  return erased_op<V, decltype(L{}.op(0))>(operation_id<L>);
}
template <class V, class L>
constexpr auto erased_join_of() {
  return erased_join<V, decltype(L{}.join())>(operation_id<L>);
}

template <>
struct CommonOps<ErasedChain> {
  using List = TypeList<ReLU, TanH, Sigmoid>;
  using Joins = TypeList<>;
  template <class L>
  static constexpr int id = operation_id<L>;
  template <class L>
  static constexpr auto op_of() {
    if constexpr (JoinLayer<L>) {
      return L{}.join();
    } else {
      return L{}.op(0);
    }
  }
};
template <>
struct StreamOps<ErasedChain> : CommonOps<ErasedChain> {
  using List = TypeList<ReLU, LeakyReLU, TanH, Sigmoid>;
  using Joins = TypeList<Add, Multiply>;
  static constexpr int sum = operation_id<Add>;
};
template <>
struct PassOps<ErasedChain> : StreamOps<ErasedChain> {
  using List = TypeList<ReLU, LeakyReLU, TanH, Sigmoid, GELU, SiLU>;
};

}  // namespace coldpress::cpu::inline COLDPRESS_ISA
