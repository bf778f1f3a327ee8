// Where a static network keeps its values, and who goes through it. For most backends: the host's memory, and the
// caller.
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

/// The primary template is the host's. A device has one of its own (backend/cuda/storage.hpp).
template <class Backend>
struct Storage {
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
  /// The samples of `count` inputs, for passes to read; and outputs, for the host.
  template <class T, int count>
  struct Border {
    explicit Border(Storage const&) {}
    static T const* bring(std::span<T const> values, int) { return values.data(); }
    static std::span<T const> fetch(std::span<T const> values, int) { return values; }
    static void forget() {}
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
