// What networks from configs add to the transfer between the host and a backend: tensors that stay on a device, passes
// that are one kernel, and losses that arrive later. If a backend computes in host memory, nothing has to be done.
#pragma once

#include <coldpress/dynamic/executable.hpp>
#include <coldpress/run/host_transfer.hpp>

namespace coldpress::dynamic {

class Program;

/// The memory of a pass: the number of values, how many of the first are scratch, and the number of workers.
struct Room {
  Index values, scratch;
  int workers;
};

template <class Backend>
class EngineTransfer : public HostTransfer<Backend>, public HostTransfer<Backend>::template Buffers<float> {
  using Buffers = typename HostTransfer<Backend>::template Buffers<float>;

 public:
  explicit EngineTransfer(Backend const&) : Buffers(HostTransfer<Backend>{}) {}

  /// Whether the backend can compute layers that the user's program has registered.
  static constexpr bool runs_custom_layers = true;
  /// Whether inputs that were brought for one call are still there after those of another call were brought.
  static constexpr bool keeps_brought = true;
  /// The memory of a pass over `values` values with this much scratch; the third argument is the scratch per worker.
  static Room room_for(Index values, Index scratch, Index) { return {values + scratch, scratch, 1}; }
  static void attach(Backend&, Room const&, Index) {}

  /// Run a pass as one kernel if the backend has one for it; false means that nothing was done.
  struct Passes {
    explicit Passes(Program const&) {}
  };
  static constexpr bool fuses() { return false; }
  static bool forward(Passes&, auto const&) { return false; }
  static bool evaluation(Passes&, auto const&) { return false; }
  static bool step(Passes&, auto const&, auto const&, float*, auto const&) { return false; }

  /// Brings values from the host, or uses those that are on this device already.
  static float const* bring(Values values, std::size_t place, SharedTensor::Home*) {
    return Buffers::bring(values, place);
  }
  /// Copies values to where the backend computes; null means that it reads the host's memory.
  static std::shared_ptr<SharedTensor::Home> upload(Values) { return nullptr; }
  /// Brings flags, which the backend reads until they are replaced.
  static bool const* flags(bool const* flags, Index) { return flags; }
  /// Begin and end a call, and the network. Tensors that were lent from this place on are about to be overwritten, so
  /// those that are still in use are copied first.
  static void start(std::size_t) {}
  static void submit() {}
  static void end() {}
  /// Drops what is kept for each layer, because the layers are about to be destroyed.
  static void forget_layers() {}
  /// Lends the results of a pass to tensors, which have this home until others are lent from the same place.
  static void lend(Values, std::size_t) {}
  static std::shared_ptr<SharedTensor::Home> home(std::size_t) { return nullptr; }
  static std::string device_of(Backend const&) { return {}; }

  /// Called before the losses of a step, and when they are read: passes on the means that arrived after the step.
  static void start_losses() {}
  static void settle_losses(auto) {}
};

}  // namespace coldpress::dynamic
