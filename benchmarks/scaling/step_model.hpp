// How long a training step takes on several ranks: Hockney's model of messages, and the order in which a step sends
// them (docs/distributed.md).
#pragma once

#include <coldpress/run/communicator.hpp>

#include <algorithm>
#include <cmath>
#include <random>
#include <stdexcept>
#include <vector>

namespace scaling {

/// A message of n bytes takes latency + n / bandwidth seconds, one in each direction at the same time. Each rank has a
/// link of its own.
struct Link {
  double latency, bandwidth;  // s, bytes/s
  double time(double bytes) const { return latency + bytes / bandwidth; }
};
/// A minibatch on one rank, in seconds and bytes.
struct Work {
  double parts;      // of the minibatch: a power of two, so that the parts of a rank are one subtree
  double part;       // s, to compute one
  double add;        // s, to add all gradients to others once
  double update;     // s, of all weights
  double gradients;  // bytes
  double results;    // bytes of outputs and losses of a part
};
struct Times {
  double compute, wire, sums, update;  // s, of the slowest rank; the wire's with what it waits for others
  double total() const { return compute + wire + sums + update; }
};

/// Follows the clock of each rank through a step. The ranks compute at speeds that differ by `spread`, a standard
/// deviation, as a fraction. Throws std::invalid_argument unless the number of ranks is a power of two.
class Step {
 public:
  Step(Work const& work, Link const& link, int ranks, double spread = 0)
      : work_(work), link_(link), ranks_(ranks), clock_(static_cast<std::size_t>(ranks)) {
    if (ranks < 1 || (ranks & (ranks - 1)) != 0)
      throw std::invalid_argument{"the number of ranks must be a power of two"};
    share(step_plan);
    double const first = elapsed();
    std::mt19937 random{1};
    std::normal_distribution<double> speed{1, spread};
    for (int r = 0; r < ranks; ++r) clock_[at(r)] += parts_of(r) * work.part * std::max(0.5, speed(random));
    times_.compute = elapsed() - first;
    share(work.results * work.parts / ranks);
    add(work.add * (std::ceil(work.parts / ranks) - 1));
    exchange_directly([&](int r) { return parts_of(r) > 0; });
    add(work.add / ranks * (std::min(work.parts, double(ranks)) - 1));
    exchange_directly([](int) { return true; });
    share(hits);
    times_.wire = elapsed() - times_.compute - times_.sums;
    times_.update = work.update;
  }
  Times const& times() const { return times_; }

 private:
  static constexpr double step_plan = 32, hits = 16;  // bytes of a rank

  static std::size_t at(int rank) { return static_cast<std::size_t>(rank); }
  double elapsed() const { return *std::max_element(clock_.begin(), clock_.end()); }
  double parts_of(int rank) const {
    return static_cast<double>(coldpress::share_of(static_cast<std::ptrdiff_t>(work_.parts), rank, ranks_).count());
  }
  void add(double seconds) {
    for (double& time : clock_) time += seconds;
    times_.sums += seconds;
  }
  void meet(int a, int b, double seconds) {
    clock_[at(a)] = clock_[at(b)] = std::max(clock_[at(a)], clock_[at(b)]) + seconds;
  }
  /// Communicator::share, with so many bytes of each rank.
  void share(double bytes) {
    for (int apart = 1; apart < ranks_; apart *= 2) {
      for (int r = 0; r < ranks_; ++r) {
        if ((r & apart) == 0) meet(r, r + apart, link_.time(bytes * apart));
      }
    }
  }
  /// Each rank with each other, in the order of Communicator::for_each_other.
  void exchange_directly(auto sends) {
    double const bytes = work_.gradients / ranks_;
    for (int round = 0; round < ranks_; ++round) {
      for (int r = 0; r < ranks_; ++r) {
        int const other = (round - r + ranks_) % ranks_;
        if (r < other && (sends(r) || sends(other))) meet(r, other, link_.time(bytes));
      }
    }
  }

  Work work_;
  Link link_;
  int ranks_;
  std::vector<double> clock_;
  Times times_{};
};

}  // namespace scaling
