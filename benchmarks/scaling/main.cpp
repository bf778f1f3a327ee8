// coldpress-scaling: alone, it simulates steps on 8 to 4,096 ranks; started by mpirun on 2, 4, 8, ... processes, it
// measures the link and the parts of a step, predicts the step from them, and measures it, also on one rank while the
// others wait.
#include "step_model.hpp"

#include "../workloads.hpp"

#include <coldpress/distributed.hpp>

#include <cstdio>
#include <memory>

namespace {

using namespace coldpress;
using scaling::Link;
using scaling::Step;
using scaling::Work;

/// T6 with minibatches of 800 samples: few large parts, which hide most of what travels.
struct Large : bench::T6 {
  static constexpr char const* id = "T6 x 8";
  static constexpr Index batch = 800;
};

/// The median of the times of calls, in seconds. They take about so many seconds; all ranks make equally many. Null:
/// this rank makes them alone.
double median_time(Communicator* ranks, double seconds, auto call) {
  double start = bench::now();
  call();
  double once = bench::now() - start;
  if (ranks) ranks->broadcast(&once, sizeof once);
  std::vector<double> times(static_cast<std::size_t>(std::clamp(seconds / once, 5.0, 1e4)));
  for (double& time : times) {
    start = bench::now();
    call();
    time = bench::now() - start;
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

/// Between all pairs of ranks, as a step uses it.
Link measured_link(Communicator& ranks) {
  constexpr std::size_t large = 1 << 20;
  std::vector<char> sent(large), received(large);
  auto const time_of = [&](std::size_t bytes) {
    ranks.barrier();
    return median_time(&ranks, 2,
                       [&] {
                         ranks.for_each_other(
                             [&](int other) { ranks.exchange(sent.data(), bytes, received.data(), bytes, other); });
                       }) /
           (ranks.size() - 1);
  };
  double numbers[] = {time_of(8), time_of(large)};
  ranks.broadcast(numbers, sizeof numbers);
  return {numbers[0], static_cast<double>(large) / std::max(1e-9, numbers[1] - numbers[0])};
}

/// A solver of a workload, whose minibatches have so many parts, and its steps.
template <class W, Index parts, bool bfloat16>
struct Training {
  using Net = Network<typename W::Net, W::shape>;
  static constexpr SolverOptions options{.microbatch = (W::batch + parts - 1) / parts, .bfloat16_gradients = bfloat16};
  using Fit = Solver<Net, W::loss, bench::optimizer, options>;
  std::unique_ptr<Net> net = std::make_unique<Net>(7);
  std::unique_ptr<Fit> solver = std::make_unique<Fit>(*net);
  std::vector<float> x = bench::inputs<W>(), t = bench::targets<W>(W::loss.target_shape(Net::output_shape).size());

  void step() { solver->train_minibatch(x, t); }
  Index parameters() const {
    Index count = 0;
    for (int i = 0; i < Net::weight_count; ++i) count += Net::weight_shape(i).size();
    return count;
  }
  /// What one rank takes for each piece of a step, while the others do the same.
  Work measured(Communicator& ranks) {
    auto const count = static_cast<std::size_t>(parameters());
    std::vector<float> weights(count), momentum(count), gradients(count, 1);
    ranks.barrier();
    double const all = median_time(&ranks, 2, [&] { step(); });
    ranks.barrier();
    double const add = median_time(&ranks, 0.2, [&] {
      for (std::size_t i = 0; i < count; ++i) momentum[i] += gradients[i];
      bench::keep(momentum.data());
    });
    double const update = median_time(&ranks, 0.2, [&] {  // as Sgd
      for (std::size_t i = 0; i < count; ++i) {
        momentum[i] = 0.9f * momentum[i] + 1e-3f * gradients[i];
        weights[i] -= momentum[i];
      }
      bench::keep(weights.data());
    });
    double numbers[] = {(all - (parts - 1) * add - update) / parts, add, update};
    ranks.broadcast(numbers, sizeof numbers);
    double const results = static_cast<double>(options.microbatch * Net::output_shape.size() + 1) * sizeof(float);
    return {static_cast<double>(parts),
            numbers[0],
            numbers[1],
            numbers[2],
            static_cast<double>(count) * (bfloat16 ? sizeof(Bfloat16) : sizeof(float)),
            results};
  }
};

template <class W, Index parts = 8, bool bfloat16 = false>
void compare(distributed::Mpi& ranks, Link const& link) {
  using Fit = Training<W, parts, bfloat16>;
  Fit training;
  Work const work = training.measured(ranks);
  double alone = 0;
  if (ranks.rank() == 0) alone = median_time(nullptr, 3, [one = std::make_unique<Fit>()] { one->step(); });
  training.solver->distribute_over(&ranks);
  ranks.barrier();
  TravelTime const before = ranks.travel_time();
  double const step = median_time(&ranks, 3, [&] { training.step(); });
  TravelTime const after = ranks.travel_time();
  double const hidden = after.hidden - before.hidden, waited = after.waited - before.waited;
  if (ranks.rank() != 0) return;
  auto const times = Step{work, link, ranks.size()}.times();
  std::printf("%-6s %-8s %5d | %8.3f %8.3f %8.3f %8.3f | %9.3f %9.3f %6.2f | %5.0f %% | %9.3f %6.2f\n", W::id,
              bfloat16 ? "bfloat16" : "", ranks.size(), 1e3 * times.compute, 1e3 * times.sums, 1e3 * times.wire,
              1e3 * times.update, 1e3 * times.total(), 1e3 * step, times.total() / step,
              100 * hidden / std::max(1e-9, hidden + waited), 1e3 * alone, alone / step);
}

void compare_all(distributed::Mpi& ranks) {
  Link const link = measured_link(ranks);
  if (ranks.rank() == 0) {
    std::printf("link: %.1f us, and %.3f GB/s each way\n\n", 1e6 * link.latency, 1e-9 * link.bandwidth);
    std::printf("%-15s %5s | %8s %8s %8s %8s | %9s %9s %6s | %7s | %9s %6s\n", "ms", "ranks", "compute", "sums", "wire",
                "update", "predicted", "measured", "ratio", "hidden", "one rank", "times");
  }
  for_each_type(TypeList<bench::T2, bench::T3, bench::T6>{}, [&]<class W>() { compare<W>(ranks, link); });
  if (ranks.size() > 2) return;
  compare<Large, 2>(ranks, link);
  compare<Large, 2, true>(ranks, link);
}

struct Cluster {
  char const* name;
  Link link;
};
constexpr Cluster clusters[] = {{"10 Gbit/s Ethernet, 20 us", {20e-6, 1.25e9}}, {"100 Gbit/s, 2 us", {2e-6, 12.5e9}}};
constexpr double spread = 0.02;

/// `per_rank`: parts of each rank, whose number grows with the minibatch; 0: the minibatch stays as it is.
void simulate(char const* name, Work work, double per_rank) {
  double const all = per_rank > 0 ? per_rank : work.parts;
  double const alone = all * work.part + (all - 1) * work.add + work.update;
  for (Cluster const& cluster : clusters) {
    if (per_rank > 0) {
      std::printf("\n%s, %g part%s per rank, %s\n", name, per_rank, per_rank > 1 ? "s" : "", cluster.name);
    } else {
      std::printf("\n%s, a minibatch of %g parts, %s\n", name, work.parts, cluster.name);
    }
    std::printf("%5s | %10s %10s %10s %10s | %10s %8s %6s\n", "ranks", "compute ms", "sums ms", "wire ms", "update ms",
                "step ms", "times", "of all");
    for (int ranks = 8; ranks <= 4096; ranks *= 2) {
      if (per_rank > 0) work.parts = per_rank * ranks;
      auto const times = Step{work, cluster.link, ranks, spread}.times();
      double const gain = alone / times.total() * (per_rank > 0 ? ranks : 1);
      std::printf("%5d | %10.3f %10.3f %10.3f %10.3f | %10.3f %8.1f %5.1f%%\n", ranks, 1e3 * times.compute,
                  1e3 * times.sums, 1e3 * times.wire, 1e3 * times.update, 1e3 * times.total(), gain,
                  100 * gain / ranks);
    }
  }
}

constexpr double rate = 100e9, cache = 100e9, memory = 10e9;  // of a rank: operations and bytes per second

/// A part takes so many operations; adding reads and writes 12 bytes for each weight, and an update 20.
Work work_of(double operations, double weights, double results) {
  double const speed = weights < 1e6 ? cache : memory;
  return {0, operations / rate, 12 * weights / speed, 20 * weights / speed, weights * sizeof(float), results};
}
void simulate_both(char const* name, Work work, double per_rank) {
  work.parts = 256;
  simulate(name, work, 0);
  simulate(name, work, per_rank);
}

void simulate_all() {
  std::printf(
      "Each rank computes %g GFLOP/s, moves %g GB/s in its cache and %g in memory, and has a link of its own; all "
      "pairs of ranks can send at once; ranks differ by %g %%.\n",
      1e-9 * rate, 1e-9 * cache, 1e-9 * memory, 100 * spread);
  // Six operations for each multiplication of the forward pass, and no gradient of the samples.
  constexpr double t2 = 784 * 512 + 512 * 512 + 512 * 10;
  simulate_both("T2, 16 samples a part", work_of((6 * t2 - 2 * 784 * 512) * 16, t2 + 1034, 16 * 10 * 4), 8);
  constexpr double first = 32 * 32 * 32 * 75,
                   t6 = first + 16 * 16 * 32 * 800 + 8 * 8 * 64 * 800 + 4 * 4 * 64 * 64 + 64 * 10;
  simulate_both("T6, 16 samples a part",
                work_of((6 * t6 - 2 * first) * 16, 32 * 75 + 32 * 800 + 64 * 800 + 1024 * 64 + 640 + 202, 16 * 10 * 4),
                8);
  constexpr double weights = 100e6, tokens = 512;
  simulate_both("A transformer of 100 M weights, 512 tokens a part", work_of(6 * weights * tokens, weights, 4), 1);
}

}  // namespace

int main() {
  try {
    if (distributed::launched_ranks() == 1) return simulate_all(), 0;
    distributed::Mpi ranks;
    compare_all(ranks);
  } catch (std::exception const& error) {
    return std::fprintf(stderr, "%s\n", error.what()), 1;
  }
}
