// Work that is divided into pieces, and executors that run the pieces on several threads.
#pragma once

// No sum is split and no piece depends on another, so every executor gives the same bits, and so does the calling
// thread alone.

#include <coldpress/core/memory.hpp>

namespace coldpress {

/// A number of independent pieces. Each must be called exactly once; they may run in any order and at the same time.
struct Work {
  int pieces;
  void (*piece)(void const* state, int number, int worker);
  void const* state;

  void operator()(int number, int worker) const { piece(state, number, worker); }
};

/// Runs work on several threads. ThreadPool (coldpress/threads.hpp) is one; a program with its own threads can derive
/// another.
class Executor {
 public:
  virtual ~Executor() = default;
  /// The largest number of pieces that run at a time. It must be constant.
  virtual int workers() const = 0;
  /// The minimum work per piece, in multiply-adds: enough to make the cost of dispatching it small.
  virtual Index piece_cost() const { return usual_piece_cost; }
  static constexpr Index usual_piece_cost = Index{1} << 18;  // a few microseconds
  /// Calls work(number, worker) for each number below work.pieces, and returns when all calls have returned. `worker`
  /// is less than workers(), and no two concurrent calls have the same; worker 0 is on the calling thread. An exception
  /// that a piece throws is thrown again; pieces that were not begun before it may then be left out.
  virtual void run(Work const& work) = 0;
};

/// The product of the factors. It is a constant if all factors are constants.
template <class... N>
constexpr auto product_of(N... factors) {
  if constexpr ((requires { N::value; } && ...)) {
    return Fixed<(N::value * ...)>{};
  } else {
    return (Index{factors} * ...);
  }
}

/// The number of parts of up to `most` that make up `total`. It is a constant if both are constants.
constexpr Index parts_of(Index total, Index most) { return (total + most - 1) / most; }
template <Index total, Index most>
constexpr auto parts_of(Fixed<total>, Fixed<most>) {
  return Fixed<parts_of(total, most)>{};
}

/// Whether the C++ library has threads. Without them, as on microcontrollers, passes run on the calling thread alone.
#if defined __GLIBCXX__ && !defined _GLIBCXX_HAS_GTHREADS
inline constexpr bool has_threads = false;
#else
inline constexpr bool has_threads = true;
#endif

/// The threads and the scratch that a primitive may use.
struct Context {
  float* scratch = nullptr;      // for the caller, which is worker 0: as many floats as scratch_of(layer) says
  Executor* executor = nullptr;  // null: the caller works alone
  float* others = nullptr;       // scratch for workers 1, 2, ...
  Index others_pitch = 0;
  static constexpr Index value_cost = 8;  // of reading and writing one value, in multiply-adds

  /// Makes `by`, which may be null, run the work, and takes scratch for its workers from `memory`: `size` floats each.
  void attach(Executor* by, HeapMemory<float>& memory, Index size) {
    executor = by;
    if (!by || size == 0) return;
    memory.reserve((by->workers() - 1) * size);
    others = memory.data(), others_pitch = size;
  }
  /// The scratch of a worker. The caller's starts after `shared` floats, which all workers use.
  __attribute__((always_inline)) float* scratch_of(int worker, Index shared = 0) const {
    return worker == 0 ? scratch + shared : others + (worker - 1) * others_pitch;
  }
  /// Calls f(first, last, worker) for ranges that together cover [0, count). `cost` is the cost of one index, in
  /// multiply-adds. Work that the compiler knows to be too small for two pieces is not divided.
  template <class Count, class Cost, class F>
  void each(Count count, Cost cost, F const& f) const {
    if constexpr (is_one_piece<Count, Cost>()) {
      f(Index{0}, Index{count}, 0);
    } else {
      Cut<F> const cut{f, count, executor ? pieces(count, cost, executor->piece_cost()) : 1};
      cut.pieces < 2 ? cut(0, 0) : executor->run({static_cast<int>(cut.pieces), Cut<F>::piece, &cut});
    }
  }
  /// The same with at most `of_worker` times as many ranges as there are workers, for work that each range begins by
  /// reading or preparing what all of them need. More ranges balance the threads better, fewer prepare less. f is not
  /// inlined, so that it is compiled once.
  template <class F>
  void each_share(int of_worker, Index count, Index cost, F const& f) const {
    Index const most = executor ? Index{of_worker} * executor->workers() : 1, some = count < most ? count : most,
                shares = some > 0 ? some : 1;
    each(
        shares, count * cost / shares, [&](Index first, Index last, int worker) __attribute__((noinline)) {
          f(first * count / shares, last * count / shares, worker);
        });
  }
  /// The sum of f(i) over [0, count), computed as the sum of at most 64 blocks, whose bounds depend on the count alone.
  template <class Sum, class Count, class Cost, class F>
  Sum sum_of(Count count, Cost cost, F const& f) const {
    constexpr Index most = 64;
    auto const block = parts_of(count, Fixed<most>{});
    auto const blocks = parts_of(count, block);
    Sum sums[most];
    each(blocks, product_of(cost, block), [&](Index first, Index last, int) {
      for (Index b = first; b < last; ++b) {
        Index const begin = b * block, end = begin + block < count ? begin + block : Index{count};
        sums[b] = Sum{};
        for (Index i = begin; i < end; ++i) sums[b] += f(i);
      }
    });
    Sum total{};
    for (Index b = 0; b < blocks; ++b) total += sums[b];
    return total;
  }

 private:
  static constexpr Index pieces(Index count, Index cost, Index piece_cost) {
    Index const grain = cost < piece_cost ? piece_cost / (cost > 0 ? cost : 1) : 1, most = 4096;
    return count / grain < most ? count / grain : most;
  }
  template <class Count, class Cost>
  static constexpr bool is_one_piece() {
    if constexpr (requires { Count::value, Cost::value; }) {
      return pieces(Count::value, Cost::value, Executor::usual_piece_cost) < 2;
    } else {
      return false;
    }
  }
  template <class F>
  struct Cut {
    F const& f;
    Index count, pieces;

    void operator()(int number, int worker) const {
      Index const n = pieces < 1 ? 1 : pieces;
      f(number * count / n, (number + 1) * count / n, worker);
    }
    static void piece(void const* cut, int number, int worker) { (*static_cast<Cut const*>(cut))(number, worker); }
  };
};

}  // namespace coldpress
