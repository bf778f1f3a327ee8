// The kernels of a pass, gathered one by one and started together.
#pragma once

// A device records them as a graph. It starts the graph again for later passes of the same kernels, after replacing the
// arguments that have changed.

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

/// A kernel as the host plays it: `host` says which part, in which order. It is passed on explicitly because code in
/// another library has its own copy of the variable that holds it.
using Loops = void (*)(void const* arguments, grid::Host const& host);

/// A call of one of NVIDIA's libraries between the kernels of a pass.
class LibraryCall {
 public:
  /// The arguments of a call. In a backward pass a gradient takes the place of its value, and y is the result.
  struct Operands {
    float *x, *weight, *bias, *y;
    void* workspace;
    void* kept;  // memory that the call keeps from pass to pass
  };
  virtual ~LibraryCall() = default;
  /// Adds the call to a stream that is being captured, a cudaStream_t.
  virtual void put(void* stream, Operands const& operands) const = 0;
  /// Computes on the host what the library would compute.
  virtual void play(Operands const& operands) const = 0;
};

/// A kernel for all threads of some blocks, or a library's call. The library's object must outlive the pass.
struct Call {
  LibraryCall const* library;  // null for a kernel
  void const* kernel;          // on a GPU
  Loops loops;                 // on the host
  int blocks;
  bool in_cluster;          // whether the blocks form a cluster
  Index barriers;           // among all blocks
  Index shared;             // floats per block
  std::size_t body;         // offset of the body in the arguments, in bytes
  std::size_t begin, size;  // of the arguments, among those of the pass, in bytes
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
  /// Keeps the first `count` calls and drops the others.
  void cut(std::size_t count) {
    if (count < calls_.size()) bytes_.resize(calls_[count].begin), calls_.resize(count);
  }
  /// Whether `other` has the same kernels, and the same library calls with the same arguments, which cannot be
  /// replaced.
  bool is_like(Pass const& other) const {
    return calls_ == other.calls_ && std::all_of(calls_.begin(), calls_.end(), [&](Call const& call) {
             return !call.library || std::memcmp(arguments(call), other.arguments(call), call.size) == 0;
           });
  }
  /// Takes the arguments of a pass with is_like(), and calls changed(number) for each call whose arguments differ. The
  /// comparison includes padding between members, so a kernel may get the same arguments again if that differs by
  /// chance.
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
