// The beginning of every source file that is compiled once for each instruction set level.
#pragma once

// Such a file contains only code of its level.

#include <coldpress/kernels/table.hpp>

#include <coldpress/backend/cpu.hpp>
#include <coldpress/backend/erased.hpp>

namespace coldpress::cpu::inline COLDPRESS_ISA {

/// The backend of static networks, with the threads and the scratch of this call.
inline Cpu with(Context const& context) { return {{{}, {context}}}; }

/// The same for the loops of layers.
struct LoopCpu : Cpu {
  using Cpu::apply_gradient;
  void apply_gradient(float const* gradient, Index size, ErasedSink const& sink) const {
    sink.apply(sink, gradient, size, *this);
  }
};
inline LoopCpu loops_with(Context const& context) { return {with(context)}; }

template <class Step>
constexpr StepKernels<Step> step_kernels() {
  return {[](Step const& step) { return kernel_of(step); }};
}

}  // namespace coldpress::cpu::inline COLDPRESS_ISA
