#include "runtime_cpu.hpp"
#include "trainer.hpp"

namespace coldpress::dynamic {

void link_training() {
  trainer_maker<cpu::RuntimeCpu>.store(Trainer<cpu::RuntimeCpu>::make, std::memory_order_relaxed);
}

namespace {
bool const linked = (link_training(), true);  // so that reserve, which does not ask for it, finds it
}

}  // namespace coldpress::dynamic
