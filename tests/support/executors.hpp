// Executors that certainly divide all work, in any order, and among any number of threads.
#pragma once

#include "support/random.hpp"

#include <coldpress/backend/cpu.hpp>
#include <coldpress/backend/reference.hpp>
#include <coldpress/threads.hpp>

#include <memory>
#include <numeric>
#include <vector>

namespace coldpress::test {

/// The calling thread does the smallest possible pieces, from the last to the first or in random order, as random
/// workers.
class Shuffled : public Executor {
 public:
  explicit Shuffled(std::uint64_t seed = 0) : random_(seed), reversed_(seed == 0) {}
  int workers() const override { return 4; }
  Index piece_cost() const override { return 1; }
  void run(Work const& work) override {
    ++runs, pieces += work.pieces;
    std::vector<int> order(static_cast<std::size_t>(work.pieces));
    std::iota(order.rbegin(), order.rend(), 0);
    for (std::size_t i = order.size() - 1; i > 0 && !reversed_; --i)
      std::swap(order[i], order[static_cast<std::size_t>(random_.integer(0, static_cast<Index>(i)))]);
    for (int number : order) work(number, reversed_ ? 3 : static_cast<int>(random_.integer(0, 3)));
  }
  int runs = 0, pieces = 0;

 private:
  Random random_;
  bool reversed_;
};

/// A pool does the smallest possible pieces.
class FineThreads : public Executor {
 public:
  explicit FineThreads(int workers) : pool_(workers) {}
  int workers() const override { return pool_.workers(); }
  Index piece_cost() const override { return 1; }
  void run(Work const& work) override { pool_.run(work); }

 private:
  ThreadPool pool_;
};

inline std::vector<std::shared_ptr<Executor>> executors() {
  return {std::make_shared<Shuffled>(),     std::make_shared<Shuffled>(1),    std::make_shared<FineThreads>(1),
          std::make_shared<FineThreads>(2), std::make_shared<FineThreads>(3), std::make_shared<FineThreads>(8)};
}

/// Calls f(backend) with the reference, and with Cpu alone and with every executor.
template <class F>
void for_each_backend(F f) {
  f(Reference<float>{});
  f(Cpu{});
  for (auto const& executor : executors()) {
    Cpu backend{};
    backend.executor = executor.get();
    f(backend);
  }
}

}  // namespace coldpress::test
