// Between the host's memory and that in which a backend computes. For most it is the same, and nothing is done.
#pragma once

#include <coldpress/core/memory.hpp>
#include <coldpress/dynamic/executable.hpp>

#include <vector>

namespace coldpress::dynamic {

template <class Backend>
class Border {
 public:
  explicit Border(Backend const&) {}

  /// Passes that are one piece of code each, where the backend makes some; false: nothing was done.
  struct Passes {};
  static constexpr bool fuses() { return false; }
  static bool forward(Passes&, auto const&) { return false; }
  static bool evaluation(Passes&, auto const&) { return false; }
  static bool step(Passes&, auto const&, auto const&, float*, auto const&) { return false; }

  using Memory = HeapMemory<float>;
  Memory memory(Index size = 0) const { return Memory(size); }
  /// For values that a pass writes before it reads them.
  using Workspace = HeapMemory<float>;
  Workspace workspace() const { return {}; }
  void clear(Memory& memory) const { freestanding::fill_n(memory.data(), memory.size(), 0.0f); }
  /// f(values) for values that the backend has: to be read, or changed.
  template <class F>
  void read(float const* values, Index, F f) const {
    f(values);
  }
  template <class F>
  void change(float* values, Index, F f) const {
    f(values);
  }
  /// The host's values, or those of a home on this device, for the backend to read until others are brought to the same
  /// place; and those brought last.
  float const* bring(Values values, std::size_t, SharedTensor::Home*) { return values.data(); }
  float const* brought(Values values, std::size_t) const { return values.data(); }
  /// Values that stay where the backend computes; null: it reads the host's.
  std::shared_ptr<SharedTensor::Home> upload(Values) const { return nullptr; }
  /// Flags, for the backend to read until there are others.
  bool const* flags(bool const* flags, Index) { return flags; }
  /// Begins and ends what a call has the backend do. What was lent from this place on is overwritten: who still wants
  /// it gets it first. So it is for all at the end of the network.
  void start(std::size_t) const {}
  void submit() const {}
  /// Layers go: what is kept for each of them is dropped.
  void forget() const {}
  void end() const {}
  /// They are for tensors as they are, which have this home until others are lent from the same place.
  void lend(Values, std::size_t) const {}
  std::shared_ptr<SharedTensor::Home> home(std::size_t) const { return nullptr; }
  static std::string device_of(Backend const&) { return {}; }

  /// What losses and statistics gather.
  using Sums = std::vector<double>;
  Sums sums(int count) const { return Sums(static_cast<std::size_t>(count)); }
  void clear(Sums& sums) const { freestanding::fill_n(sums.data(), static_cast<Index>(sums.size()), 0.0); }
  Sums const& fetch(Sums const& sums) const { return sums; }

  /// Before the losses of a step, and where they are read: the means, where they were not known in the step.
  void start_losses() const {}
  template <class F>
  void settle_losses(F) const {}
};

}  // namespace coldpress::dynamic
