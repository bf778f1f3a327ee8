// What networks from configs want of the transfer between the host's memory and a backend's beside what all do: tensors
// that follow their values to where these are read, passes that are one piece of code, losses that are not yet known.
// Where a backend computes in the host's memory nothing is done.
#pragma once

#include <coldpress/backend/host_transfer.hpp>
#include <coldpress/dynamic/executable.hpp>

namespace coldpress::dynamic {

/// What a pass needs: so many values, the first of them as scratch, of so many workers.
struct Room {
  Index values, scratch;
  int workers;
};

template <class Backend>
class Border : public HostTransfer<Backend>, public HostTransfer<Backend>::template Buffers<float> {
  using Buffers = typename HostTransfer<Backend>::template Buffers<float>;

 public:
  explicit Border(Backend const&) : Buffers(HostTransfer<Backend>{}) {}

  /// Whether it computes layers that the user's program has registered.
  static constexpr bool runs_strangers = true;
  /// Whether what was brought for one call is still there after it was brought for another.
  static constexpr bool keeps_brought = true;
  /// For a pass over so many values, which wants so much scratch, and `own` of it for each worker.
  static Room room_for(Index values, Index scratch, Index) { return {values + scratch, scratch, 1}; }
  static void employ(Backend&, Room const&, Index) {}

  /// Passes that are one piece of code each, where the backend makes some; false: nothing was done.
  struct Passes {};
  static constexpr bool fuses() { return false; }
  static bool forward(Passes&, auto const&) { return false; }
  static bool evaluation(Passes&, auto const&) { return false; }
  static bool step(Passes&, auto const&, auto const&, float*, auto const&) { return false; }

  /// The host's values, or those of a home on this device.
  static float const* bring(Values values, std::size_t place, SharedTensor::Home*) {
    return Buffers::bring(values, place);
  }
  /// Values that stay where the backend computes; null: it reads the host's.
  static std::shared_ptr<SharedTensor::Home> upload(Values) { return nullptr; }
  /// Flags, for the backend to read until there are others.
  static bool const* flags(bool const* flags, Index) { return flags; }
  /// Begins and ends what a call has the backend do. Tensors that were lent from this place on are about to be
  /// overwritten, and copied where they are still wanted; so are all of them at the end of the network.
  static void start(std::size_t) {}
  static void submit() {}
  static void end() {}
  /// Layers go: what is kept for each of them is dropped.
  static void forget_layers() {}
  /// What a pass makes is for tensors as it is, which have this home until others are lent from the same place.
  static void lend(Values, std::size_t) {}
  static std::shared_ptr<SharedTensor::Home> home(std::size_t) { return nullptr; }
  static std::string device_of(Backend const&) { return {}; }

  /// Before the losses of a step, and where they are read: the means, where they were not known in the step.
  static void start_losses() {}
  static void settle_losses(auto) {}
};

}  // namespace coldpress::dynamic
