// Transfers values between the host's memory and a backend's, for static and for dynamic networks.
#pragma once

// Most backends compute in the host's memory, so there is nothing to do.

#include <coldpress/core/memory.hpp>

#include <array>
#include <span>

namespace coldpress {

/// The backend that computes: for a backend that is a device, the one whose code runs there.
template <class Backend>
struct ComputingOf {
  using type = Backend;
};

/// The primary template is for backends in the host's memory; cuda/device_transfer.hpp has the one for a GPU.
template <class Backend>
struct HostTransfer {
  template <class T, class Batch, Index size>
  using Memory = coldpress::Memory<T, Batch, size>;
  /// Memory for values that a pass writes before it reads them; `zeroed` says whether they must be zero at first.
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
  /// Calls f(values) with values in the backend's memory: read() to look at them, change() to modify them.
  template <class T, class F>
  static void read(T const* values, Index, F f) {
    f(values);
  }
  template <class T, class F>
  static void change(T* values, Index, F f) {
    f(values);
  }
  /// The samples of an input as they are passed to a pass.
  template <class T>
  using Given = std::span<T const>;
  /// The inputs of passes, which stay valid until others are brought to the same place, and the results, for the host.
  template <class T>
  struct Buffers {
    explicit Buffers(HostTransfer const&) {}
    static T const* bring(std::span<T const> values, std::size_t) { return values.data(); }
    /// The values that were brought last.
    static T const* brought(std::span<T const> values, std::size_t) { return values.data(); }
    static std::span<T const> fetch(std::span<T const> values, std::size_t) { return values; }
    /// A pass is about to replace the results, so what was fetched is out of date.
    static void forget() {}
    static void forget(std::size_t) {}
  };
  /// Runs a pass: what(run, more...).
  template <class What, class Run, class... More>
  __attribute__((always_inline)) static void play(What what, Run const& run, More const&... more) {
    what(run, more...);
  }
  /// Runs a pass that returns a number, which a device stores at the address that is the first argument.
  template <class T, class What, class Run, class... More>
  __attribute__((always_inline)) static T play_for(T*, What what, Run const& run, More const&... more) {
    return what(run, more...);
  }
};

}  // namespace coldpress
