// Who does the work on a GPU: all threads of all blocks, or one block with memory that its threads share. On a host
// they are loops, which do the same arithmetic in any order of the threads.
#pragma once

#include <coldpress/core/freestanding.hpp>
#include <coldpress/core/shape.hpp>

#include <cstdint>

/// Has nvcc unroll a loop whose arrays are to be registers.
#if defined __CUDA_ARCH__
#define COLDPRESS_UNROLL _Pragma("unroll")
#else
#define COLDPRESS_UNROLL
#endif

namespace coldpress::grid {

inline constexpr int threads = 256;                // of a block
inline constexpr Index lanes = 32;                 // of a warp
inline constexpr Index shared_values = 10 * 1024;  // floats that the threads of a block share: 40 of 48 KiB

/// In which order a host plays threads and blocks. No result depends on it: between two barriers no thread reads what
/// another writes.
enum class Order { forward, backward, shuffled };
#if !defined __CUDACC_RTC__
/// Where a host asks how many blocks there is work for, and has none of it done; else null.
inline Index*& asked_blocks() {
  static thread_local Index* asked = nullptr;
  return asked;
}
#endif
#if !defined __CUDA_ARCH__
inline Order& order() {
  static thread_local Order current = Order::forward;
  return current;
}
inline Index played(Index n, Index count) {
  switch (order()) {
    case Order::backward:
      return count - 1 - n;
    case Order::shuffled:
      return n * (count % 7919 == 0 ? 7907 : 7919) % count;  // a prime that does not divide the count
    default:
      return n;
  }
}
inline bool only_asked(Index blocks) {
  Index* const most = asked_blocks();
  if (most && *most < blocks) *most = blocks;
  return most;
}
#endif

/// What each thread of a block keeps to itself from one phase to the next.
template <class T>
struct PerThread {
#if defined __CUDA_ARCH__
  T value = {};
  constexpr T& operator[](int) { return value; }
#else
  T values[threads] = {};
  constexpr T& operator[](int thread) { return values[thread]; }
#endif
};

struct Block {
  float* shared;
  constexpr double* doubles() const { return static_cast<double*>(static_cast<void*>(shared)); }

  /// f(thread) by each thread of the block, and a barrier: what one wrote, all may read.
  template <class F>
  constexpr void each(F const& f) const {
#if defined __CUDA_ARCH__
    f(static_cast<int>(threadIdx.x));
    __syncthreads();
#else
    for (Index n = 0; n < threads; ++n) f(static_cast<int>(played(n, threads)));
#endif
  }
  /// add(t, other) for pairs of threads' numbers, until `left` are left, the first of all: a tree of fixed order.
  template <class F>
  constexpr void halve(int left, F const& add) const {
    for (int half = threads / 2; half >= left; half /= 2) {
      each([&](int t) {
        if (t < half) add(t, t + half);
      });
    }
  }
};

/// A block's threads for what needs many steps together: each(n, f) has f(i) called for all i below n before any goes
/// on.
struct Together {
  Block const& block;
  double* spare;  // of as many numbers as are added up

  template <class F>
  constexpr void each(Index n, F const& f) const {
    block.each([&](int t) {
      for (Index i = t; i < n; i += threads) f(i);
    });
  }
  /// Σ f(i) over i below n, for every thread.
  template <class F>
  constexpr double sum(Index n, F const& f) const {
    each(n, [&](Index i) { spare[i] = f(i); });
    double total = 0;
    for (Index i = 0; i < n; ++i) total += spare[i];
    block.each([](int) {});  // before the next sum
    return total;
  }
};

/// Of numbers below 2^32, which a GPU divides much faster.
constexpr Index quotient(Index a, Index b) {
  return static_cast<Index>(static_cast<std::uint32_t>(a) / static_cast<std::uint32_t>(b));
}
constexpr Index remainder(Index a, Index b) {
  return static_cast<Index>(static_cast<std::uint32_t>(a) % static_cast<std::uint32_t>(b));
}
constexpr Index parts(Index count, Index size) { return (count + size - 1) / size; }

/// All threads of all blocks, or one of them `alone`.
struct Team {
  float* shared = nullptr;           // of this block
  double* sums = nullptr;            // that all blocks see: sum_parts of them
  std::uint32_t* tickets = nullptr;  // of the barrier of all blocks: two, 0 at first
  bool alone = false;

  static constexpr Index sum_parts = 64;

  /// f(i) for each i below the count, and a barrier.
  template <class F>
  constexpr void each(Index count, F const& f) const {
    if (alone) {
      for (Index i = 0; i < count; ++i) f(i);
      return;
    }
#if defined __CUDA_ARCH__
    Index const all = static_cast<Index>(gridDim.x) * threads;
    for (Index i = static_cast<Index>(blockIdx.x) * threads + threadIdx.x; i < count; i += all) f(i);
    meet();
#else
    if (only_asked(parts(count, threads))) return;
    for (Index n = 0; n < count; ++n) f(played(n, count));
#endif
  }
  /// f() by one thread: what it writes others may read after the next barrier.
  template <class F>
  constexpr void once(F const& f) const {
#if defined __CUDA_ARCH__
    if (blockIdx.x == 0 && threadIdx.x == 0) f();
#else
    if (!only_asked(1)) f();
#endif
  }
  /// The same by `workers` threads and no more: f(i, worker).
  template <class F>
  constexpr void each_of(int workers, Index count, F const& f) const {
#if defined __CUDA_ARCH__
    Index const all = static_cast<Index>(gridDim.x) * threads, most = all < workers ? all : workers,
                own = static_cast<Index>(blockIdx.x) * threads + threadIdx.x;
    if (own < most) {
      for (Index i = own; i < count; i += most) f(i, static_cast<int>(own));
    }
    meet();
#else
    if (only_asked(parts(count < workers ? count : workers, threads))) return;
    each(count, [&](Index i) { f(i, static_cast<int>(i % workers)); });
#endif
  }
  /// f(block, i) for each i below the count by a whole block, and a barrier.
  template <class F>
  constexpr void each_block(Index count, F const& f) const {
#if defined __CUDA_ARCH__
    if (alone) __trap();  // the other threads of the block are elsewhere
    for (Index i = blockIdx.x; i < count; i += gridDim.x) f(Block{shared}, i);
    meet();
#else
    if (alone) __builtin_trap();
    if (only_asked(count)) return;
    for (Index n = 0; n < count; ++n) {
      alignas(16) float memory[shared_values];
      __builtin_memset(memory, 0xff, sizeof memory);  // NaNs: nothing may be read unwritten
      f(Block{memory}, played(n, count));
    }
#endif
  }
  /// Σ f(i) over i below the count, in an order that the count alone decides; every thread gets it.
  template <class F>
  constexpr double sum_of(Index count, F const& f) const {
    Index const blocks = freestanding::smaller(sum_parts, parts(count, threads));
    return sum_of_parts(blocks, [&](Block const& block, Index part) {
      double* const own = block.doubles();
      block.each([&](int t) {
        double sum = 0;
        for (Index i = part * threads + t; i < count; i += blocks * threads) sum += static_cast<double>(f(i));
        own[t] = sum;
      });
      block.halve(1, [&](int t, int other) { own[t] += own[other]; });
      return own[0];
    });
  }
  /// Σ f(block, part) over at most sum_parts parts, of which a block makes one; all of its threads get the same of f.
  template <class F>
  constexpr double sum_of_parts(Index count, F const& f) const {
#if defined __CUDA_ARCH__
    double* const all = sums;
#else
    double all[sum_parts] = {};
#endif
    each_block(count, [&](Block const& block, Index part) {
      double const sum = f(block, part);
      block.each([&](int t) {
        if (t == 0) all[part] = sum;
      });
    });
    double total = 0;
    for (Index part = 0; part < count; ++part) total += all[part];
#if defined __CUDA_ARCH__
    meet();  // before the next sum
#endif
    return total;
  }

#if defined __CUDA_ARCH__
  /// A barrier of all blocks, which must be on the GPU at the same time: the last to come lets the others go on.
  __device__ void meet() const {
    __syncthreads();
    if (gridDim.x == 1) return;
    if (!tickets) __trap();
    if (threadIdx.x == 0) {
      std::uint32_t round, now, before;
      asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(round) : "l"(tickets + 1) : "memory");
      asm volatile("atom.acq_rel.gpu.global.inc.u32 %0, [%1], %2;"
                   : "=r"(before)
                   : "l"(tickets), "r"(gridDim.x - 1)
                   : "memory");
      if (before == gridDim.x - 1) {
        asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(tickets + 1) : "memory");
      } else {
        do {
          asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(now) : "l"(tickets + 1) : "memory");
        } while (now == round);
      }
    }
    __syncthreads();
  }
#endif
};

}  // namespace coldpress::grid
