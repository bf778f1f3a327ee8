// The CPU backend with faster tanh and sigmoid, accurate to 5 units in the last place instead of 2.
#pragma once

// It is meant for streams, where each step waits for these functions. Without fused multiply-adds it is the same as
// Cpu; with AVX-512 its tanh is that of Cpu, which takes no longer.

#include <coldpress/backend/cpu.hpp>
#include <coldpress/layers/sigmoid.hpp>
#include <coldpress/layers/tanh.hpp>

#include <concepts>

namespace coldpress {
inline namespace COLDPRESS_ISA {

struct FastTanHOp : TanHOp {
  template <class V>
  COLDPRESS_INLINE V value(V x, Position) const {
    if constexpr (!cpu::has_fma) return Math<V>::tanh(x);
    return cpu::tanh<true>(x);
  }
};
struct FastSigmoidOp : SigmoidOp {
  template <class V>
  COLDPRESS_INLINE V value(V x, Position) const {
    if constexpr (!cpu::has_fma) return Math<V>::sigmoid(x);
    return cpu::sigmoid<true>(x);
  }
};

/// The layers TanH, Sigmoid and Rnn use the faster forms; all others are unchanged.
struct CpuFast : Cpu {
  static FastTanHOp op(std::same_as<TanHOp> auto) { return {}; }
  static FastSigmoidOp op(std::same_as<SigmoidOp> auto) { return {}; }
  template <class R>
  COLDPRESS_INLINE void recurrent(R const& r, float const* weights) const {
    Cpu::recurrent<true>(r, weights);
  }
  template <class R>
  COLDPRESS_INLINE void recurrent(SignalRecurrence<R> const& s) const {
    Cpu::recurrent<true>(s);
  }
};
static_assert(concepts::Backend<CpuFast>);

}  // namespace COLDPRESS_ISA
}  // namespace coldpress
