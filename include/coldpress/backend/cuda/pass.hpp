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

/// What a library of NVIDIA's does among the kernels of a pass.
class LibraryCall {
 public:
  /// Its arguments. A gradient is in the place of what it is the gradient of, and y what comes out.
  struct Operands {
    float *x, *weight, *bias, *y;
    void* workspace;
    void* kept;  // what it has from pass to pass
  };
  virtual ~LibraryCall() = default;
  /// Puts it into a stream that is being captured, a cudaStream_t.
  virtual void put(void* stream, Operands const& operands) const = 0;
  /// What the library is asked for, by a host.
  virtual void play(Operands const& operands) const = 0;
};

/// A kernel for all threads of some blocks, or a library's call, which outlives the pass.
struct Call {
  LibraryCall const* library;  // or null
  void const* kernel;          // a GPU's
  Loops loops;                 // and as a host plays it
  int blocks;
  bool in_cluster;          // which these are
  Index barriers;           // of all blocks
  Index shared;             // floats of a block
  std::size_t body;         // where in its arguments the second is
  std::size_t begin, size;  // where these are among those of the pass
  bool operator==(Call const&) const = default;
};

class Pass {
 public:
  bool empty() const { return calls_.empty(); }
  std::vector<Call> const& calls() const { return calls_; }
  std::byte const* arguments(Call const& call) const { return bytes_.data() + call.begin; }
  LibraryCall::Operands operands(Call const& call) const {
    LibraryCall::Operands operands;
    std::memcpy(&operands, arguments(call), sizeof operands);
    return operands;
  }

  void add(Call call, void const* arguments) {
    call.begin = bytes_.size();
    bytes_.resize(call.begin + (call.size + alignment - 1) / alignment * alignment);
    std::memcpy(bytes_.data() + call.begin, arguments, call.size);
    calls_.push_back(call);
  }
  void clear() { cut(0); }
  /// Drops all but so many calls.
  void cut(std::size_t count) {
    if (count < calls_.size()) bytes_.resize(calls_[count].begin), calls_.resize(count);
  }
  /// Whether it is the same kernels, and the same of libraries with the same arguments: these get no others.
  bool is_like(Pass const& other) const {
    return calls_ == other.calls_ && std::all_of(calls_.begin(), calls_.end(), [&](Call const& call) {
             return !call.library || std::memcmp(arguments(call), other.arguments(call), call.size) == 0;
           });
  }
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
