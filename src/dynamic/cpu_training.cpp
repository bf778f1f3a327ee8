#include <coldpress/kernels/runtime_cpu.hpp>
#include "trainer.hpp"

namespace coldpress::dynamic {

void link_training() {
  trainer_maker<cpu::RuntimeCpu>.store(Trainer<cpu::RuntimeCpu>::make, std::memory_order_relaxed);
}

namespace {
/// So that reserve, which does not ask for it, finds it.
__attribute__((constructor(101))) void link_before_all_else() { link_training(); }
}  // namespace

}  // namespace coldpress::dynamic
