#include "runtime_cpu.hpp"
#include "trainer.hpp"

namespace coldpress::dynamic {

void link_training() {
  trainer_maker<cpu::RuntimeCpu>.store(Trainer<cpu::RuntimeCpu>::make, std::memory_order_relaxed);
}

}  // namespace coldpress::dynamic
