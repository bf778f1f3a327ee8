#include "dispatch.hpp"
#include "engine.hpp"
#include "runtime_cpu.hpp"

namespace coldpress::dynamic {

std::unique_ptr<AnyBackend> cpu_backend(std::string const& level, std::shared_ptr<Executor> executor) {
  cpu::RuntimeCpu cpu;
  cpu.table = &cpu::table_for(level);
  return std::make_unique<BackendOf<cpu::RuntimeCpu>>(cpu, std::move(executor));
}

}  // namespace coldpress::dynamic
