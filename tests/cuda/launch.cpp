// How passes are started on a GPU: which of them as one cluster, and where blocks wait for each other.
#include "support/catch.hpp"

#include <coldpress/backend/cuda/kernel.hpp>
#include <coldpress/cuda.hpp>
#include <coldpress/graph/describe.hpp>

#include "../../benchmarks/workloads.hpp"

namespace {

using namespace coldpress;
using bench::T1, bench::T2, bench::T3, bench::T4, bench::T5, bench::T6;
using grid::Demand;

template <class W>
struct Step {
  using Net = Network<typename W::Net, W::shape, Batch<W::batch>, Cuda>;
  Net net{7, Cuda::on("cuda:emulated")};
  Solver<Net, W::loss, bench::optimizer> solver{net};
  Demand const demand = demand_of(solver, W::batch);
};
template <class W>
Demand step_of() {
  return Step<W>{}.demand;
}

constexpr Demand of(Index blocks, Index barriers, Index clocks) {
  Demand demand{.barriers = barriers};
  demand.add(blocks, clocks);
  return demand;
}

}  // namespace

TEST_CASE("passes are one cluster where that has enough blocks, or is sooner done") {
  static_assert(!of(1, 0, 1000000).in_cluster());
  static_assert(!of(16, 0, 1000000).in_cluster());  // who does not wait needs nobody beside
  static_assert(of(2, 1, 1000000).in_cluster());
  static_assert(of(16, 1, 1000000).in_cluster());
  static_assert(of(17, 1, 1000).in_cluster());
  static_assert(!of(17, 1, 1000000).in_cluster());
  static_assert(of(132, 10, 1000).in_cluster());
  static_assert(!of(132, 1, 1000).in_cluster());
  static_assert(!of(100000, 3, 500).in_cluster());
  static_assert(of(2, 1, 1000).then(of(20, 0, 500)) == Demand{20, 2, 2000, 1500});  // one kernel in place of two
}

TEST_CASE("small steps are one cluster, and large ones have all of a GPU") {
  Demand const t1 = step_of<T1>(), t2 = step_of<T2>(), t4 = step_of<T4>();
  CHECK(t1.in_cluster());
  CHECK(!t1.fits_cluster());
  CHECK(t4.in_cluster());
  CHECK(!t2.in_cluster());
  CHECK(step_of<T5>().in_cluster());
  CHECK(!step_of<T3>().in_cluster());
  CHECK(!step_of<T6>().in_cluster());
}

TEST_CASE("a step waits where it must, and is started as it was asked for") {
  // T1: a layer forward and the other, the loss of each sample, their sum, the gradient between the layers; then all
  // parameters' gradients beside each other.
  Step<T1> step;
  CHECK(step.demand.barriers == 5);
  auto const& counts = cuda::counts();
  Index const barriers = counts.barriers, clusters = counts.clusters, blocks = counts.blocks, kernels = counts.kernels;
  step.solver.train_minibatch(bench::inputs<T1>(), bench::targets<T1>(1));
  CHECK(counts.kernels == kernels + 1);
  CHECK(counts.barriers == barriers + step.demand.barriers);
  CHECK(counts.clusters == clusters + 1);
  CHECK(counts.blocks == blocks + grid::cluster_blocks);
  step.net.storage().device().clusters = false;
  step.solver.train_minibatch(bench::inputs<T1>(), bench::targets<T1>(1));
  CHECK(counts.clusters == clusters + 1);
  CHECK(counts.blocks == blocks + grid::cluster_blocks + step.demand.blocks);
}

TEST_CASE("who describes a network on a GPU says how its passes run there, and why") {
  auto const last_line = [](std::string const& text) { return text.substr(text.rfind('\n', text.size() - 2) + 1); };
  Step<T1> const small;
  CHECK(last_line(describe(small.net)) == "forward is one kernel: one cluster of 2 blocks with 2 barriers\n");
  CHECK(describe(small.solver) ==
        "a step is one kernel: one cluster of 16 blocks with 5 barriers, sooner done than 26 blocks with barriers of "
        "all\n");
  CHECK(describe(Step<T2>{}.solver) == "a step is one kernel: 104 blocks, or as many as fit, with 8 barriers of all\n");
  Network<Sequential<Linear{4}>, Shape{3}, AnyBatch, Cuda> const tiny{1, Cuda::on("cuda:emulated")};
  CHECK(last_line(describe(tiny)) == "forward is one kernel: one block, which has all the work\n");
  CHECK(last_line(describe(tiny, 1000)) == "forward is one kernel: 16 blocks, or as many as fit, without a barrier\n");
  CHECK(last_line(describe(Network<Sequential<Linear{4}>, Shape{3}>{})).starts_with("all "));
}

namespace {

/// y = x from the other end, where all threads have met in between or have not.
struct Turned {
  float *x, *y;
  Index size;
  grid::Kind first, second;
  constexpr void operator()(Grid const& grid) const {
    grid.each(
        size, [&](Index i) { x[i] = static_cast<float>(i); }, first);
    grid.each(
        size, [&](Index i) { y[i] = x[size - 1 - i]; }, second);
  }
};
struct Compiled {};

struct Both {
  constexpr auto operator()(auto large, auto small) const {
    Handle filters{Convolution{.num_output = 4, .filter_shape = 3}};
    auto const first = small | filters, second = large | filters;
    return (first | Linear{3}) + (second | Linear{3});
  }
};
inline constexpr auto both = graph(Both{});

/// What it makes in two orders of play.
bool is_turned(grid::Kind first, grid::Kind second) {
  constexpr Index size = 1000;
  bool right = true;
  for (auto const order : {grid::Order::forward, grid::Order::backward}) {
    grid::order() = order;
    auto const device = cuda::emulated_device();
    cuda::DeviceMemory<float> memory{device};
    memory.reserve(2 * size);
    cuda::launch_by<Compiled>(*device, device->grid(),
                              Turned{memory.data(), memory.data() + size, size, first, second});
    std::vector<float> y(size);
    device->download(y.data(), memory.data() + size, size * sizeof(float));
    for (Index i = 0; i < size; ++i)
      right = right && y[static_cast<std::size_t>(i)] == static_cast<float>(size - 1 - i);
  }
  grid::order() = grid::Order::forward;
  return right;
}

/// A barrier that only the threads of some blocks come to.
struct Parted {
  void operator()(Grid const& grid) const {
    grid.each(300, [](Index) {});
    if (grid::host().player == 0) grid.each(300, [](Index) {});
  }
};

/// f() with threads in either order makes the same.
template <class F>
void check_orders(F const& f) {
  auto const forward = f();
  grid::order() = grid::Order::backward;
  CHECK((f() == forward));
  grid::order() = grid::Order::forward;
}
template <int weight, class Net, class Buffer>
std::vector<float> copy_of(Net const& net, Buffer buffer) {
  std::vector<float> values(static_cast<std::size_t>(Net::weight_shape(weight).size()));
  net.read(buffer.data(), weight, values);
  return values;
}

}  // namespace

TEST_CASE("what is kept of gradients is there before the update reads it") {
  using Net = Network<Sequential<Linear{100}, TanH{}, Linear{3}>, Shape{70}, Batch<16>, Cuda>;
  check_orders([] {
    Net net{3, Cuda::on("cuda:emulated")};
    Solver<Net, MeanSquaredError{}, Sgd{}, SolverOptions{.keep_gradients = true}> solver{net};
    solver.train_minibatch(bench::noise(16 * 70, 1, 1), bench::noise(16 * 3, 2, 1));
    return copy_of<0>(net, net.parameters());
  });
}

TEST_CASE("gradients of a parameter that two layers have are added one after the other") {
  using Net = Network<Graph<both>, Inputs{Shape{1, 8, 8}, Shape{1, 4, 4}}, Batch<16>, Cuda>;
  check_orders([] {
    Net net{3, Cuda::on("cuda:emulated")};
    Solver<Net, MeanSquaredError{}> solver{net};
    auto const large = bench::noise(16 * 64, 1, 1), small = bench::noise(16 * 16, 2, 1);
    solver.train_minibatch(std::tie(large, small), bench::noise(16 * 3, 3, 1));
    return copy_of<0>(net, solver.gradients());
  });
}

TEST_CASE("emulation sees where a barrier is missing") {
  using grid::Kind;
  CHECK(is_turned(Kind::values, Kind::values));
  CHECK(is_turned(Kind::gradients, Kind::updates));
  CHECK(is_turned(Kind::updates, Kind::values));
  CHECK(!is_turned(Kind::updates, Kind::updates));  // which says that one does not read what the other writes
  auto const device = cuda::emulated_device();
  cuda::launch_by<Compiled>(*device, device->grid(), Parted{});
  device->flush();
  float nothing = 0;
  cuda::DeviceMemory<float> memory{device};
  memory.reserve(1);
  CHECK_THROWS_AS(device->download(&nothing, memory.data(), sizeof nothing), DeviceError);
}
