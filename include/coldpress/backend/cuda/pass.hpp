// The kernels of a pass, gathered one by one to be started at once. A device takes them down as a graph, and starts
// that again for later passes of the same kernels, with other arguments where they have changed.
#pragma once

#include <coldpress/backend/grid.hpp>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <vector>

namespace coldpress::cuda {

/// The arguments of a kernel.
template <class Body>
struct Arguments {
  Grid grid;
  Body body;
};

/// A kernel as a host plays it: a part of it, in an order. In another library's code these have to be told.
using Loops = void (*)(void const* arguments, grid::Host const& host);

/// A kernel for all threads of some blocks.
struct Call {
  void const* kernel;  // a GPU's
  Loops loops;         // and as a host plays it
  int blocks;
  bool in_cluster;          // which these are
  Index barriers;           // of all blocks
  std::size_t body;         // where in its arguments the second is
  std::size_t begin, size;  // where these are among those of the pass
  bool operator==(Call const&) const = default;
};

class Pass {
 public:
  bool empty() const { return calls_.empty(); }
  std::vector<Call> const& calls() const { return calls_; }
  std::byte const* arguments(Call const& call) const { return bytes_.data() + call.begin; }

  void add(Call call, void const* arguments) {
    call.begin = bytes_.size();
    bytes_.resize(call.begin + (call.size + alignment - 1) / alignment * alignment);
    std::memcpy(bytes_.data() + call.begin, arguments, call.size);
    calls_.push_back(call);
  }
  void clear() { calls_.clear(), bytes_.clear(); }
  /// Whether it is the same kernels.
  bool is_like(Pass const& other) const { return calls_ == other.calls_; }
  /// Takes the arguments of one like it: changed(number) of each call whose were others. What lies between the members
  /// of arguments is compared, too: where it differs by chance a kernel gets the same arguments again.
  template <class F>
  void take(Pass const& other, F changed) {
    for (std::size_t number = 0; number < calls_.size(); ++number) {
      Call const& call = calls_[number];
      if (std::memcmp(arguments(call), other.arguments(call), call.size) == 0) continue;
      copy(other, number);
      changed(number);
    }
  }
  void copy(Pass const& other, std::size_t number) {
    Call const& call = calls_[number];
    std::memcpy(bytes_.data() + call.begin, other.arguments(call), call.size);
  }

 private:
  static constexpr std::size_t alignment = 16;
  std::vector<Call> calls_;
  std::vector<std::byte> bytes_;
};

}  // namespace coldpress::cuda
