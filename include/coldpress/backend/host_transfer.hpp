// How values come from the host's memory to where a backend computes, and back: for networks that are types and for
// those from configs. Most backends compute in the host's memory, and nothing is done.
#pragma once

#include <coldpress/core/memory.hpp>

#include <array>
#include <span>

namespace coldpress {

/// What computes: of a backend that is a device, the code that runs there.
template <class Backend>
struct ComputingOf {
  using type = Backend;
};

/// The primary template is the host's. That of a GPU is backend/cuda/device_transfer.hpp.
template <class Backend>
struct HostTransfer {
  template <class T, class Batch, Index size>
  using Memory = coldpress::Memory<T, Batch, size>;
  /// For values that a pass writes before it reads them, but for what has to be `zeroed` once.
  template <class T, class Batch, Index size, bool zeroed>
  using Workspace = coldpress::Memory<T, Batch, size>;
  template <class T, int count>
  using Numbers = std::array<T, static_cast<std::size_t>(count)>;

  template <class M>
  static M memory() {
    return M{};
  }
  template <class M>
  static void clear(M& memory) {
    freestanding::fill_n(memory.data(), static_cast<Index>(memory.size()),
                         std::remove_reference_t<decltype(*memory.data())>{});
  }
  /// f(values) for values in memory: to be read, or changed.
  template <class T, class F>
  static void read(T const* values, Index, F f) {
    f(values);
  }
  template <class T, class F>
  static void change(T* values, Index, F f) {
    f(values);
  }
  /// The samples of an input, as a pass is given them.
  template <class T>
  using Given = std::span<T const>;
  /// The inputs of passes, for them to read until others are brought to the same place, and what they make, for the
  /// host.
  template <class T>
  struct Buffers {
    explicit Buffers(HostTransfer const&) {}
    static T const* bring(std::span<T const> values, std::size_t) { return values.data(); }
    /// What was brought last.
    static T const* brought(std::span<T const> values, std::size_t) { return values.data(); }
    static std::span<T const> fetch(std::span<T const> values, std::size_t) { return values; }
    /// A pass makes others: what was fetched is old.
    static void forget() {}
    static void forget(std::size_t) {}
  };
  /// Goes through a pass: what(run, more...).
  template <class What, class Run, class... More>
  __attribute__((always_inline)) static void play(What what, Run const& run, More const&... more) {
    what(run, more...);
  }
  /// The same of one that makes a number, which a device leaves at `result`.
  template <class T, class What, class Run, class... More>
  __attribute__((always_inline)) static T play_for(T*, What what, Run const& run, More const&... more) {
    return what(run, more...);
  }
};

}  // namespace coldpress
