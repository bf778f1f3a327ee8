// Compiles the engine of "cpu" and its levels, and makes backends of it.
#include <coldpress/kernels/dispatch.hpp>
#include "host_backend.hpp"
#include <coldpress/kernels/runtime_cpu.hpp>

namespace coldpress::dynamic {

std::unique_ptr<AnyBackend> cpu_backend(std::string const& level, BackendOptions const& options) {
  cpu::RuntimeCpu cpu;
  cpu.table = &cpu::table_for(level);
  cpu.halves = options.bfloat16;
  return std::make_unique<HostBackend<cpu::RuntimeCpu>>(cpu, options.executor);
}

}  // namespace coldpress::dynamic
