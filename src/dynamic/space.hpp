// A plan of a network from a config, and the memory that its passes compute in.
#pragma once

#include "border.hpp"
#include "program.hpp"

namespace coldpress::dynamic {

template <class Backend>
struct Space {
  Program program;
  typename Border<Backend>::template Workspace<float, AnyBatch, 0, false> memory;
  HeapMemory<float> of_workers;
  typename Border<Backend>::Passes passes;

  template <class... Args>
  explicit Space(Border<Backend> const& border, Args&&... args)
      : program(std::forward<Args>(args)...), memory(border.template memory<decltype(memory)>()) {}

  Room room_for(Index batch) const {
    Index values = 0;
    bool const absurd = __builtin_mul_overflow(program.plan().workspace, batch, &values) || values > Index{1} << 60;
    require(!absurd, "network: no memory holds a batch of this size");
    return Border<Backend>::room_for(values, program.scratch(), program.worker_scratch());
  }
  /// A backend with what this memory has of scratch, and with its threads.
  Backend equipped(Backend backend, Room const& room, Executor* executor) {
    if constexpr (requires { backend.scratch; }) backend.scratch = memory.data();
    if constexpr (requires { backend.executor; }) backend.employ(executor, of_workers, program.worker_scratch());
    Border<Backend>::employ(backend, room, program.worker_scratch());
    return backend;
  }
};

}  // namespace coldpress::dynamic
