// Compiles streams of blocks on the engine of "cpu", which only programs that stream link.
#include <coldpress/kernels/linked_streams.hpp>
#include "engine_stream.hpp"

namespace coldpress::dynamic {

void link_streams() { stream_maker<LinkedCpu>.store(EngineStream<LinkedCpu>::make, std::memory_order_relaxed); }

}  // namespace coldpress::dynamic
