#include "dispatch.hpp"
#include "engine.hpp"
#include "runtime_cpu.hpp"

namespace coldpress::dynamic {

std::unique_ptr<AnyBackend> cpu_backend(std::string const& level) {
  cpu::RuntimeCpu cpu;
  cpu.table = &cpu::table_for(level);
  return std::make_unique<BackendOf<cpu::RuntimeCpu>>(cpu);
}

}  // namespace coldpress::dynamic
