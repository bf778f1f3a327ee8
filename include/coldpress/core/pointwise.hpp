// Pointwise operations and chains of them: one formula and its derivative, for scalars and vectors alike.
#pragma once

#include <coldpress/core/freestanding.hpp>
#include <coldpress/core/random.hpp>
#include <coldpress/core/shape.hpp>

#include <concepts>
#include <cstdint>

namespace coldpress {

/// The position in a minibatch at which an operation is applied: sample, first feature, and training step (0:
/// inference).
struct Position {
  Index row, column;
  std::uint64_t step;
};

/// The functions that formulas use, for one number type. These are the scalars; backend/math.hpp has the vectors.
template <class T>
struct Math {
  /// A constant in the precision of T.
  static constexpr T number(double x) { return static_cast<T>(x); }
  static constexpr T exp(T x) { return freestanding::exp(x); }
  static constexpr T tanh(T x) { return freestanding::tanh(x); }
  static constexpr T sigmoid(T x) {
    T const e = freestanding::exp(-freestanding::fabs(x));
    return (x < 0 ? e : T{1}) / (1 + e);
  }
  static constexpr T expm1(T x) { return freestanding::expm1(x); }
  static constexpr T log(T x) { return freestanding::log(x); }
  /// log(1 + e^x)
  static constexpr T softplus(T x) {
    return freestanding::max(x, T{}) + freestanding::log1p(freestanding::exp(-freestanding::fabs(x)));
  }
  /// The distribution function of the standard normal.
  static constexpr T normal_cdf(T x) { return freestanding::erfc(x * T(-0.70710678118654752)) / 2; }
  static constexpr T pow(T x, float exponent) { return freestanding::pow(x, T(exponent)); }
  static constexpr T sqrt(T x) { return freestanding::sqrt(x); }
  static constexpr T fma(T a, T b, T c) { return freestanding::fma(a, b, c); }
  /// The product a b where it may be a denormal number. On processors with fused multiply-add that takes no longer.
  static constexpr T multiply(T a, T b) { return a * b; }
  /// The random word of feature at.column of sample at.row: word (column / 16) % 4 of Philox at {16 (column / 64) +
  /// column % 16, row, step}. Sixteen neighbours use the same word of their blocks, so that a vector is drawn at once.
  static constexpr std::uint32_t random(std::uint64_t key, Position at) {
    auto const column = static_cast<std::uint32_t>(at.column);
    return philox<std::uint32_t>({{column / 64 * 16 + column % 16, static_cast<std::uint32_t>(at.row),
                                   static_cast<std::uint32_t>(at.step), static_cast<std::uint32_t>(at.step >> 32)}},
                                 key)
        .words[column / 16 % 4];
  }
};

/// x * gate, but 0 where the gate is 0, even if x is infinite or NaN.
template <class T>
__attribute__((always_inline)) constexpr T gated(T x, T gate) {
  return gate == T{} ? T{} : Math<T>::multiply(x, gate);
}
/// The gate of y = gated(x, gate), where it is 1/2 at 0 and 1 far above: a division, which takes less time than to
/// compute the gate again.
template <class T>
__attribute__((always_inline)) constexpr T gate_of(T x, T y) {
  T const tiny = Math<T>::number(0x1p-60), huge = Math<T>::number(0x1p60);  // infinity has no quotient, nor has 0
  auto const is_zero = (x > -tiny) & (x < tiny);
  return x > huge ? Math<T>::number(1) : is_zero ? Math<T>::number(0.5) : y / x;
}

/// A pointwise operation has value(x, at) and gradient(x, y, at) = dy/dx for T = float, double or a vector of floats,
/// which holds feature at.column and those after it. `needs_input` says that the gradient reads x; otherwise it is a
/// function of y alone, and x is not kept. `heavy` marks long code, over which epilogues loop instead of unrolling. An
/// operation that reads at.row or at.column, and whose layer has no `seed`, must declare `static constexpr bool
/// positioned = true`.
template <class Op>
concept Pointwise = requires(Op const& op, double x, Position at) {
  { op.value(x, at) } -> std::same_as<double>;
  { op.gradient(x, x, at) } -> std::same_as<double>;
  { Op::needs_input } -> std::convertible_to<bool>;
  { Op::heavy } -> std::convertible_to<bool>;
};
template <class Op>
constexpr bool is_positioned = requires {
  requires Op::positioned;
};

/// A join has value(a, b) and the derivatives first(a, b) = dy/da and second(a, b) = dy/db, for two values at the same
/// position. `needs_inputs` says that a derivative reads a or b; otherwise both are constants. `commutes` says that a
/// and b may be exchanged.
template <class Op>
concept Joins = requires(Op const& op, double x) {
  { op.value(x, x) } -> std::same_as<double>;
  { op.first(x, x) } -> std::same_as<double>;
  { op.second(x, x) } -> std::same_as<double>;
  { Op::needs_inputs } -> std::convertible_to<bool>;
  { Op::commutes } -> std::convertible_to<bool>;
};

/// Pointwise operations applied one after the other. The plan divides chains longer than max_chain_length.
template <class... Ops>
struct Chain;

inline constexpr int max_chain_length = 8;

template <>
struct Chain<> {
  static constexpr int length = 0;
  static constexpr bool needs_input = false;
  static constexpr bool heavy = false;
  template <class T>
  __attribute__((always_inline)) constexpr T value(T x, Position) const {
    return x;
  }
};

template <class Op, class... Rest>
struct Chain<Op, Rest...> {
  static constexpr int length = 1 + sizeof...(Rest);
  static constexpr bool needs_input = length > 1 || Op::needs_input;
  static constexpr bool heavy = Op::heavy || Chain<Rest...>::heavy;

  Op op;
  [[no_unique_address]] Chain<Rest...> rest;

  template <class T>
  __attribute__((always_inline)) constexpr T value(T x, Position at) const {
    return rest.value(op.value(x, at), at);
  }
  /// The derivative dy/dx of the whole chain. x is read only if needs_input is true. The derivatives are multiplied
  /// from the last operation to the first.
  template <class T>
  __attribute__((always_inline)) constexpr T gradient(T x, T y, Position at) const {
    if constexpr (sizeof...(Rest) == 0) {
      return op.gradient(x, y, at);
    } else {
      T const middle = op.value(x, at);
      return rest.gradient(middle, y, at) * op.gradient(x, middle, at);
    }
  }
};

constexpr Chain<> chain_of() { return {}; }
template <class Op, class... Rest>
constexpr Chain<Op, Rest...> chain_of(Op op, Rest... rest) {
  return {op, chain_of(rest...)};
}

/// A block of rows to which an operation with its type erased is applied.
struct ErasedBlock {
  Index rows, columns, pitch;
};

/// One operation on numbers of type T with its own type erased, applied to blocks of rows. Networks that are known only
/// at run time chain these. All backends accept this form. A backend that has its own code for an operation (vector
/// code of a CPU, kernels of a GPU) finds it by the id.
template <class T>
struct BasicErasedOp {
  using Block = ErasedBlock;
  int id;  // the operation_id (layers.hpp) of a built-in layer; -1: any other operation
  bool needs_input;
  void const* op;  // the operation itself, which is trivially copyable
  /// Computes x <- value(x).
  void (*value)(void const* op, T* x, Block block, Position at);
  /// Computes derivative <- gradient(x, y), or derivative <- derivative * gradient(x, y) if `multiply` is set. x may be
  /// null unless needs_input is true.
  void (*gradient)(void const* op, T const* x, T const* y, T* derivative, bool multiply, Block block, Position at);
};

template <class T>
struct BasicErasedChain {
  BasicErasedOp<T> const* ops;
  int length;
};
template <class Chain>
constexpr bool is_erased_chain = false;
template <class T>
constexpr bool is_erased_chain<BasicErasedChain<T>> = true;

/// The operation of a join with its type erased: x <- value(x, other). Only the first `columns` columns of `other` are
/// read.
template <class T>
struct BasicErasedJoin {
  int id = -1;  // as for BasicErasedOp
  void const* op = nullptr;
  void (*value)(void const* op, T* x, T const* other, Index pitch, Index columns, ErasedBlock block) = nullptr;
};

using ErasedOp = BasicErasedOp<float>;
using ErasedChain = BasicErasedChain<float>;
using ErasedJoin = BasicErasedJoin<float>;

}  // namespace coldpress
