// The kernels of one instruction set level for blocks of a stream's steps.
#include "level.hpp"

namespace coldpress::cpu::inline COLDPRESS_ISA {

StreamTable const& stream_table() {
  static constexpr StreamTable kernels{step_kernels<FusedBlock>(), step_kernels<SignalMap<>>(),
                                       step_kernels<SignalRecurrence<>>()};
  return kernels;
}

}  // namespace coldpress::cpu::inline COLDPRESS_ISA
