// The threads that do the work on a GPU: all threads of all blocks, or those of one block, which share memory.
#pragma once

// On a host they are loops that do the same arithmetic, in any order of the threads.

#include <coldpress/backend/grid/launch.hpp>

#include <cstdint>
#if !defined __CUDACC_RTC__
#include <vector>
#endif

/// Makes nvcc unroll a loop whose arrays must be in registers.
#if defined __CUDA_ARCH__
#define COLDPRESS_UNROLL_ON_GPU _Pragma("unroll")
#else
#define COLDPRESS_UNROLL_ON_GPU
#endif

namespace coldpress::grid {

inline constexpr int threads = 256;     // per block
inline constexpr Index lanes = 32;      // per warp
inline constexpr Index sum_parts = 64;  // per sum, at most
/// The shared memory of a block with samples of its own, in floats: what its primitives share, two sums included, and
/// what remains for values. Each GPU from sm_80 on has at least 99 KiB per block.
inline constexpr Index apart_shared = 4608 + 4 * sum_parts, apart_values = 99 * 256 - apart_shared;

/// The order in which a host plays threads and blocks. No result depends on it, because between two barriers no thread
/// reads what another writes.
enum class Order { forward, backward, shuffled };
#if !defined __CUDACC_RTC__
/// What a host plays. With `estimate`, nothing is computed, but the work is estimated, and the matrix products are
/// listed in `products` unless it is null. A player does a part of the work, as a block does, and waits for the others
/// at barriers; by default one player does everything.
struct Host {
  Order order = Order::forward;
  LaunchEstimate* estimate = nullptr;
  std::vector<ProductBlocks>* products = nullptr;
  Index player = 0, players = 1;
  void (*wait)(void* others) = nullptr;
  void* others = nullptr;
  // A test may divide the threads of a player's blocks among several members, each of which is a host thread. They
  // share the memory of a block, block_values floats, and wait for each other where the threads of a block do.
  Index member = 0, members = 1;
  float* shared = nullptr;
  void (*wait_in_block)(void* others) = nullptr;
};
inline constexpr Index block_values = apart_shared + apart_values;
inline Host& host() {
  static thread_local Host current;
  return current;
}
inline Order& order() { return host().order; }
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
/// Memory for partial sums where there is no device.
inline float* host_partial_sums(Index count) {
  static thread_local std::vector<float> sums(static_cast<std::size_t>(count));
  return sums.data();
}
/// f(i) for the share that player number `one` of `all` has of `count` items.
template <class F>
void play_part(Index count, Index one, Index all, F const& f) {
  for (Index n = 0; n < count; ++n) {
    if (Index const i = played(n, count); all == 1 || i % all == one) f(i);
  }
}
/// f(i) for the items of this player, or of this member of it, where each item is done by a thread.
template <class F>
void play(Index count, F const& f) {
  Host const& own = host();
  play_part(count, own.player * own.members + own.member, own.players * own.members, f);
}
/// The same where each item is done by a block.
template <class F>
void play_blocks(Index count, F const& f) {
  play_part(count, host().player, host().players, f);
}
/// f(thread) for the threads of a block, or for those of this member, followed by a barrier of the members.
template <class F>
void play_threads(F const& f) {
  Host const& own = host();
  play_part(threads, own.member, own.members, [&](Index t) { f(static_cast<int>(t)); });
  if (own.wait_in_block) own.wait_in_block(own.others);
}
/// Calls f() with the player alone in a block, or with the estimate of what that takes.
template <class F>
void by_itself(LaunchEstimate* asked, F const& f) {
  struct Back {
    ~Back() { host() = before; }
    Host const before = host();
  } const back;
  host().estimate = asked, host().player = 0, host().players = 1, host().wait = nullptr;
  f();
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

#if defined __CUDA_ARCH__
/// The shared memory of this block. A function returns it, and no member has it, since nvcc then knows in each place
/// that it is shared memory.
COLDPRESS_DEVICE inline float* block_memory() {
  extern __shared__ float shared[];
  return shared;
}
#endif
struct Block {
  float* shared;
  constexpr double* doubles() const { return static_cast<double*>(static_cast<void*>(shared)); }

  /// f(thread) by each thread of the block, followed by a barrier: what one thread wrote, all may read.
  template <class F>
  constexpr void each(F const& f) const {
#if defined __CUDA_ARCH__
    f(static_cast<int>(threadIdx.x));
    __syncthreads();
#else
    play_threads(f);
#endif
  }
  /// add(t, other) for pairs of thread numbers until the first `left` are left: a tree of fixed order.
  template <class F>
  constexpr void halve(int left, F const& add) const {
    for (int half = threads / 2; half >= left; half /= 2) {
      each([&](int t) {
        if (t < half) add(t, t + half);
      });
    }
  }
};

/// The threads of a block, for work that has many steps in common: each(n, f) calls f(i) for all i below n before any
/// thread goes on.
struct Together {
  Block const& block;
  double* spare;  // as many numbers as are summed

  template <class F>
  constexpr void each(Index n, F const& f) const {
    block.each([&](int t) {
      for (Index i = t; i < n; i += threads) f(i);
    });
  }
  /// The sum of f(i) over i below n, for every thread.
  template <class F>
  constexpr double sum(Index n, F const& f) const {
    each(n, [&](Index i) { spare[i] = f(i); });
    double total = 0;
    for (Index i = 0; i < n; ++i) total += spare[i];
    block.each([](int) {});  // before the next sum
    return total;
  }
};

/// Quotient and remainder of numbers below 2^32, which a GPU divides much faster.
constexpr Index quotient(Index a, Index b) {
  return static_cast<Index>(static_cast<std::uint32_t>(a) / static_cast<std::uint32_t>(b));
}
constexpr Index remainder(Index a, Index b) {
  return static_cast<Index>(static_cast<std::uint32_t>(a) % static_cast<std::uint32_t>(b));
}

/// What a primitive writes. Primitives of the same kind, except values, neither read nor write what the others write,
/// so they need no barrier in between.
enum class Kind { nothing, values, gradients, updates };

/// All threads of all blocks, those of one block with samples of its own (`block_local`), or one thread (`alone`).
/// Before it begins, a primitive waits for all threads, if what they have done since the last barrier requires it.
struct ThreadGroup {
  double* sums = nullptr;            // seen by all blocks: two times sum_parts of them
  std::uint32_t* tickets = nullptr;  // of the barrier of all blocks: two numbers, 0 at first
  float* partial_sums = nullptr;     // seen by all blocks: partial_sums_capacity floats, for the parts of a product
  bool alone = false, block_local = false;

  static constexpr Index sum_parts = grid::sum_parts, partial_sums_capacity = Index{1} << 20;

  /// Called in a kernel before anything else.
  constexpr void start() {
    since_ = Kind::nothing, odd_ = alone = block_local = false;  // constants to a compiler that sees the whole pass
  }

  /// f(i) for each i below the count.
  template <class F>
  constexpr void each(Index count, F const& f, Kind kind = Kind::values) const {
    if (alone) {
      for (Index i = 0; i < count; ++i) f(i);
      return;
    }
    if (!begin(kind, parts(count, threads), waiting())) return;
#if defined __CUDA_ARCH__
    for (Index i = own_block() * threads + threadIdx.x; i < count; i += blocks() * threads) f(i);
#else
    play(count, f);
#endif
  }
  /// f() by one thread, concurrently with the others: no primitive of this pass may read or write what f writes.
  template <class F>
  constexpr void once(F const& f) const {
#if defined __CUDA_ARCH__
    if (own_block() == 0 && threadIdx.x == 0) f();
#else
    if (!host().estimate && host().player == 0 && host().member == 0) f();
#endif
  }
  /// each(count, f) by at most `workers` threads: f(i, worker).
  template <class F>
  constexpr void each_of(int workers, Index count, F const& f) const {
    if (!begin(Kind::values, parts(freestanding::min<Index>(count, workers), threads), waiting())) return;
#if defined __CUDA_ARCH__
    Index const all = blocks() * threads, most = all < workers ? all : workers,
                own = own_block() * threads + threadIdx.x;
    if (own < most) {
      for (Index i = own; i < count; i += most) f(i, static_cast<int>(own));
    }
#else
    play(freestanding::min<Index>(count, workers), [&](Index own) {
      for (Index i = own; i < count; i += workers) f(i, static_cast<int>(own));
    });
#endif
  }
  /// f(block, i) for each i below the count, by a whole block. `clocks` is the approximate time of one call beyond one
  /// memory latency.
  template <class F>
  constexpr void each_block(Index count, F const& f, Kind kind = Kind::values, Index clocks = 0) const {
    if (alone) trap();  // the other threads of the block are elsewhere
    if (!begin(kind, count, waiting() + clocks)) return;
#if defined __CUDA_ARCH__
    for (Index i = own_block(); i < count; i += blocks()) f(Block{block_memory()}, i);
#else
    play_blocks(count, [&](Index i) {
      if (host().members > 1) return f(Block{host().shared}, i);
      alignas(16) float memory[shared_values];
      __builtin_memset(memory, 0xff, sizeof memory);  // NaNs, because nothing may be read before it is written
      f(Block{memory}, i);
    });
#endif
  }
  /// f(thread_group, i, memory) for each i below the count, by a block that does not wait for other blocks before the
  /// end. `memory` is `size` floats of its shared memory.
  template <class F>
  constexpr void each_block_local(Index count, Index size, F const& f) const {
    ThreadGroup own = *this;
    auto const start = [&own] { own.start(), own.block_local = true; };
#if defined __CUDA_ARCH__
    begin(Kind::values, count, 0);
    float* const memory = block_memory() + apart_shared;
    own.sums = Block{memory - 4 * sum_parts}.doubles();
    for (Index i = own_block(); i < count; i += blocks()) {
      start(), f(own, i, memory);
      __syncthreads();  // before the memory belongs to the next call
    }
#else
    LaunchEstimate* const estimate = host().estimate;
    LaunchEstimate inner;
    float nowhere = 0;
    if (estimate) by_itself(&inner, [&] { start(), f(own, Index{0}, &nowhere); });
    if (!begin(Kind::values, count, inner.by_cluster)) {
      estimate->shared = freestanding::max(estimate->shared, apart_shared + size);
      estimate->block_local = freestanding::max(estimate->block_local, count);
      return;
    }
    auto const one = [&](Index i, float* all) {
      own.sums = Block{all}.doubles();
      by_itself(nullptr, [&] { start(), f(own, i, all + 4 * sum_parts); });
    };
    play_blocks(count, [&](Index i) {
      if (host().members > 1) {
        one(i, host().shared + apart_shared - 4 * sum_parts);
        return host().wait_in_block(host().others);
      }
      alignas(16) float all[4 * sum_parts + apart_values + 2];
      __builtin_memset(all, 0xff, sizeof all);  // NaNs, because nothing may be read before it is written
      one(i, all);
      if (__builtin_memcmp(all + 4 * sum_parts + size, all + sizeof all / sizeof(float) - 1, sizeof(float)) != 0)
        trap();
    });
#endif
  }
  /// The memory of partial sums. Without a device, a single thread of the host has its own.
  constexpr float* shared_partial_sums() const {
#if !defined __CUDA_ARCH__
    if (!partial_sums && host().players * host().members > 1) trap();
    if (!partial_sums) return host_partial_sums(partial_sums_capacity);
#endif
    return partial_sums;
  }
  /// The approximate clocks of waiting for memory.
  constexpr Index waiting() const { return block_local ? assumed::near : assumed::value; }
  /// Records a matrix product that is about to be computed, if the host asks for a list.
  COLDPRESS_DEVICE static void tell([[maybe_unused]] ProductBlocks const& product) {
#if !defined __CUDA_ARCH__
    if (auto* const products = host().products) products->push_back(product);
#endif
  }
  /// Whether the pass is only estimated: nothing is computed, and there is no memory.
  COLDPRESS_DEVICE static bool is_asked() {
#if defined __CUDA_ARCH__
    return false;
#else
    return host().estimate != nullptr;
#endif
  }
  /// Waits for all threads if anything was done since the last barrier.
  constexpr void wait() const {
    if (since_ != Kind::nothing) meet();
  }
  /// The sum of f(i) over i below the count, in an order that the count alone decides. Every thread gets it.
  template <class F>
  constexpr double sum_of(Index count, F const& f) const {
    Index const blocks = freestanding::min(sum_parts, parts(count, threads));
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
  /// The sum of f(block, part) over at most sum_parts parts, each computed by one block. f gives all threads of the
  /// block the same value.
  template <class F>
  constexpr double sum_of_parts(Index count, F const& f) const {
#if defined __CUDA_ARCH__
    double* const all = sums + (odd_ ? sum_parts : 0);
#else
    double own[sum_parts] = {};
    double* const all = sums ? sums + (odd_ ? sum_parts : 0) : own;
#endif
    each_block(count, [&](Block const& block, Index part) {
      double const sum = f(block, part);
      block.each([&](int t) {
        if (t == 0) all[part] = sum;
      });
    });
    meet();
    odd_ = !odd_;  // the next sum goes where no thread reads any more
    if (is_asked()) return 0;
    double total = 0;
    for (Index part = 0; part < count; ++part) total += all[part];
    return total;
  }

 private:
  // These are constants to a compiler that sees the whole pass.
  mutable Kind since_ = Kind::nothing;  // all threads have met
  mutable bool odd_ = false;

  /// The number of this block among those of the group, and the number of blocks.
#if defined __CUDA_ARCH__
  __device__ Index own_block() const { return block_local ? 0 : static_cast<Index>(blockIdx.x); }
  __device__ Index blocks() const { return block_local ? 1 : static_cast<Index>(gridDim.x); }
#endif
  /// Waits for the threads that the primitive needs. Returns false if the pass is only estimated.
  COLDPRESS_DEVICE bool begin(Kind kind, [[maybe_unused]] Index blocks, [[maybe_unused]] Index clocks) const {
    if (since_ != Kind::nothing && (since_ != kind || kind == Kind::values)) meet();
    since_ = kind;
#if !defined __CUDA_ARCH__
    if (LaunchEstimate* const estimate = host().estimate)
      return block_local ? estimate->add(1, blocks * clocks) : estimate->add(blocks, clocks), false;
#endif
    return true;
  }
  COLDPRESS_DEVICE static void trap() {
#if defined __CUDA_ARCH__
    __trap();
#else
    __builtin_trap();
#endif
  }
  /// A barrier of all blocks: what was written before it, all may read. The blocks of a cluster run at the same time
  /// and use the cluster's barrier; its release and acquire have the cluster's scope, which contains all threads that
  /// there are, and hold for global memory as well. Other blocks, which must be on the GPU at the same time, take
  /// tickets, and the last block to arrive lets the others go on.
  COLDPRESS_DEVICE void meet() const {
    since_ = Kind::nothing;
#if defined __CUDA_ARCH__
    if (block_local || gridDim.x == 1) return __syncthreads();
#if __CUDA_ARCH__ >= 900
    std::uint32_t together;
    asm("mov.u32 %0, %%cluster_nctaid.x;" : "=r"(together));
    if (together == gridDim.x) {
      asm volatile("barrier.cluster.arrive.release;\n\tbarrier.cluster.wait.acquire;" ::: "memory");
      return;
    }
#endif
    __syncthreads();
    if (!tickets) __trap();
    if (threadIdx.x == 0) {
      std::uint32_t round, now, before;
      asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(round) : "l"(tickets + 1) : "memory");
      asm volatile("atom.acq_rel.gpu.global.inc.u32 %0, [%1], %2;"
                   : "=r"(before)
                   : "l"(tickets), "r"(gridDim.x - 1)
                   : "memory");
      if (before == gridDim.x - 1) {
        asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(tickets + 1) : "memory");
      } else {
        do {
          asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(now) : "l"(tickets + 1) : "memory");
        } while (now == round);
        // Only now, because each load that acquires empties the L1 cache.
        asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(now) : "l"(tickets + 1) : "memory");
      }
    }
    __syncthreads();
#else
    if (host().estimate) {
      host().estimate->barriers += !block_local;
    } else if (auto const wait = block_local ? host().wait_in_block : host().wait) {
      wait(host().others);
    }
#endif
  }
};

#if !defined __CUDACC_RTC__
/// The estimate for a pass f() of this group; nothing is computed. `products`, unless it is null, receives the matrix
/// products in their order.
template <class F>
LaunchEstimate launch_estimate_of(ThreadGroup const&, F const& f, std::vector<ProductBlocks>* products = nullptr) {
  struct Asking {
    explicit Asking(std::vector<ProductBlocks>* list) { host().estimate = &estimate, host().products = list; }
    ~Asking() { host().estimate = nullptr, host().products = nullptr; }
    LaunchEstimate estimate;
  } const asking{products};
  f();
  return asking.estimate;
}
#endif

}  // namespace coldpress::grid
