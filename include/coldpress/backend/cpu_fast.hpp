// The CPU backend with tanh and sigmoid within 5 units in the last place, not 2: for streams, where each step waits for
// them. Without fused multiply-adds it is the same as Cpu.
#pragma once

#include <coldpress/backend/cpu.hpp>
#include <coldpress/layers/sigmoid.hpp>
#include <coldpress/layers/tanh.hpp>

#include <concepts>

namespace coldpress {
inline namespace COLDPRESS_ISA {

struct FastTanHOp : TanHOp {
  template <class V>
  COLDPRESS_INLINE V value(V x, At) const {
    if constexpr (!cpu::has_fma) return Math<V>::tanh(x);
    return cpu::tanh<true>(x);
  }
};
struct FastSigmoidOp : SigmoidOp {
  template <class V>
  COLDPRESS_INLINE V value(V x, At) const {
    if constexpr (!cpu::has_fma) return Math<V>::sigmoid(x);
    return cpu::sigmoid<true>(x);
  }
};

/// The layers TanH, Sigmoid and Rnn take the faster forms; all others are as ever.
struct CpuFast : Cpu {
  static FastTanHOp op(std::same_as<TanHOp> auto) { return {}; }
  static FastSigmoidOp op(std::same_as<SigmoidOp> auto) { return {}; }
  template <class T>
  COLDPRESS_INLINE void recurrent(Recurrence<T> const& r, T const* weights) const {
    Cpu::recurrent<true>(r, weights);
  }
};
static_assert(concepts::Backend<CpuFast>);

}  // namespace COLDPRESS_ISA
}  // namespace coldpress
