// Compiles streams of blocks on the engine of "cpu", which only programs that stream link.
#include <coldpress/kernels/runtime_cpu.hpp>
#include "engine_stream.hpp"

namespace coldpress::dynamic {

void link_streams() {
  stream_maker<cpu::RuntimeCpu>.store(EngineStream<cpu::RuntimeCpu>::make, std::memory_order_relaxed);
}

}  // namespace coldpress::dynamic
