// A plan of a network from a config, and the memory in which its passes compute.
#pragma once

#include "engine_transfer.hpp"
#include "program_for.hpp"

#include <coldpress/run/input_copies.hpp>

#include <algorithm>

namespace coldpress::dynamic {

template <class Backend>
struct Space {
  ProgramFor<Backend> program;
  typename EngineTransfer<Backend>::template Workspace<float, DynamicBatch, 0, false> memory;
  HeapMemory<float> of_workers;
  typename EngineTransfer<Backend>::Passes passes;
  struct Copies {
    std::vector<Values> given;
    InputCopies<HeapMemory<float>> memory;
  } inputs, gradients;

  template <class... Args>
  explicit Space(EngineTransfer<Backend> const& transfer, Args&&... args)
      : program(std::forward<Args>(args)...), memory(transfer.template memory<decltype(memory)>()), passes(program) {}

  /// Whether some of the values are results of a pass in this memory, or in that of `others`, which the next pass would
  /// overwrite. The inputs of a GPU are brought to memory of their own.
  template <class... Others>
  bool has_results(std::span<Values const> given, Others const&... others) const {
    if constexpr (std::is_same_v<decltype(memory), HeapMemory<float>>) {
      return std::ranges::any_of(given, [&](Values values) { return is_result(values.data(), others...); });
    } else {
      return false;
    }
  }
  /// The same values, but copies of those that are results. They last until others are made by the same `copies`.
  template <class... Others>
  std::span<Values const> copy_results(Copies& copies, std::span<Values const> given, Others const&... others) const {
    copies.given.assign(given.begin(), given.end());
    copies.memory.copy(copies.given, [&](float const* value) { return is_result(value, others...); });
    return copies.given;
  }
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

 private:
  template <class... Others>
  bool is_result(float const* value, Others const&... others) const {
    return is_among(value, memory.data(), memory.size()) || (others.holds(value) || ...);
  }
};

}  // namespace coldpress::dynamic
