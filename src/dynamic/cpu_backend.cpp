// Compiles the engine of "cpu" and its levels, and makes backends of it.
#include <coldpress/kernels/linked_layers.hpp>  // first, so that the engine calls its passes
#include "host_backend.hpp"

namespace coldpress::dynamic {

std::unique_ptr<AnyBackend> cpu_backend(std::string const& level, BackendOptions const& options) {
  LinkedCpu cpu;
  cpu.table = &cpu::table_for(level);
  cpu.halves = options.bfloat16;
  return std::make_unique<HostBackend<LinkedCpu>>(cpu, options.executor);
}

}  // namespace coldpress::dynamic
