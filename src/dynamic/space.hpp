// A plan of a network from a config, and the memory in which its passes compute.
#pragma once

#include "engine_transfer.hpp"
#include "program_for.hpp"

namespace coldpress::dynamic {

template <class Backend>
struct Space {
  ProgramFor<Backend> program;
  typename EngineTransfer<Backend>::template Workspace<float, DynamicBatch, 0, false> memory;
  HeapMemory<float> of_workers;
  typename EngineTransfer<Backend>::Passes passes;

  template <class... Args>
  explicit Space(EngineTransfer<Backend> const& transfer, Args&&... args)
      : program(std::forward<Args>(args)...), memory(transfer.template memory<decltype(memory)>()), passes(program) {}

  /// Whether values are in this memory.
  bool holds(Values values) const { return is_among(values.data(), memory.data(), memory.size()); }
  Room room_for(Index batch) const {
    Index values = 0;
    bool const absurd = __builtin_mul_overflow(program.plan().workspace, batch, &values) || values > Index{1} << 60;
    require(!absurd, "network: no memory holds a batch of this size");
    return EngineTransfer<Backend>::room_for(values, program.scratch(), program.worker_scratch());
  }
  /// The backend with the scratch of this memory and with the threads.
  Backend equipped(Backend backend, Room const& room, Executor* executor) {
    if constexpr (requires { backend.scratch; }) backend.scratch = memory.data();
    if constexpr (requires { backend.executor; }) backend.attach(executor, of_workers, program.worker_scratch());
    EngineTransfer<Backend>::attach(backend, room, program.worker_scratch());
    return backend;
  }
};

}  // namespace coldpress::dynamic
