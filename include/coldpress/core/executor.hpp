// Work that is cut into pieces, and who does them. No sum is split and no piece depends on another, so every executor
// gives the same bits, as does the calling thread alone.
#pragma once

#include <coldpress/core/memory.hpp>

namespace coldpress {

/// Pieces that touch nothing in common: each is to be called once, in any order, several at a time.
struct Work {
  int pieces;
  void (*piece)(void const* state, int number, int worker);
  void const* state;

  void operator()(int number, int worker) const { piece(state, number, worker); }
};

/// Does work on several threads. ThreadPool (coldpress/threads.hpp) is one; a program with threads of its own derives
/// another.
class Executor {
 public:
  virtual ~Executor() = default;
  /// How many pieces are done at a time, at most; always the same.
  virtual int workers() const = 0;
  /// What a piece should comprise at least, in multiply-adds: so many that handing it over costs little.
  virtual Index piece_cost() const { return usual_piece_cost; }
  static constexpr Index usual_piece_cost = Index{1} << 18;  // a few microseconds
  /// Calls work(number, worker) for each number below work.pieces, and returns when all calls have. `worker` is below
  /// workers(), and no two calls at a time have the same. An exception of a piece is thrown again.
  virtual void run(Work const& work) = 0;
};

/// The product, as a constant where all factors are.
template <class... N>
constexpr auto product_of(N... factors) {
  if constexpr ((requires { N::value; } && ...)) {
    return Fixed<(N::value * ...)>{};
  } else {
    return (Index{factors} * ...);
  }
}

/// What a primitive may use: threads and scratch.
struct Context {
  float* scratch = nullptr;      // of the caller, which is worker 0: as much as scratch_of(layer) asks for
  Executor* executor = nullptr;  // null: the caller alone
  float* others = nullptr;       // scratch of workers 1, 2, ...
  Index others_pitch = 0;
  static constexpr Index value_cost = 8;  // of one value that is read and written, in multiply-adds

  /// Has the work done by `by`, which may be null; `memory` takes scratch for its workers, `size` floats each.
  void employ(Executor* by, HeapMemory<float>& memory, Index size) {
    executor = by;
    if (!by || size == 0) return;
    memory.reserve((by->workers() - 1) * size);
    others = memory.data(), others_pitch = size;
  }
  /// That of a worker; the caller's starts after `shared` floats, which belong to all.
  __attribute__((always_inline)) float* scratch_of(int worker, Index shared = 0) const {
    return worker == 0 ? scratch + shared : others + (worker - 1) * others_pitch;
  }
  /// f(first, last, worker) for ranges that together are [0, count). `cost`: of one number in it, in multiply-adds.
  /// What the compiler knows to be too little for two is not cut.
  template <class Count, class Cost, class F>
  void each(Count count, Cost cost, F const& f) const {
    if constexpr (is_one_piece<Count, Cost>()) {
      f(Index{0}, Index{count}, 0);
    } else {
      Cut<F> const cut{f, count, executor ? pieces(count, cost, executor->piece_cost()) : 1};
      cut.pieces < 2 ? cut(0, 0) : executor->run({static_cast<int>(cut.pieces), Cut<F>::piece, &cut});
    }
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
