// How passes are started on a GPU: which of them as one cluster, and where blocks wait for each other.
#include "support/catch.hpp"

#include <coldpress/cuda.hpp>
#include <coldpress/cuda/kernel.hpp>
#include <coldpress/typed/describe.hpp>

#include "../../benchmarks/workloads.hpp"

namespace {

using namespace coldpress;
using bench::T1, bench::T2, bench::T3, bench::T4, bench::T5, bench::T6;
using grid::LaunchEstimate;

template <class W>
struct Step {
  using Net = Network<typename W::Net, W::shape, Batch<W::batch>, Cuda>;
  Net net{7, Cuda::on("cuda:emulated")};
  Solver<Net, W::loss, bench::optimizer> solver{net};
  LaunchEstimate const estimate = launch_estimate_of(solver, W::batch);
};
template <class W>
LaunchEstimate step_of() {
  return Step<W>{}.estimate;
}

constexpr LaunchEstimate of(Index blocks, Index barriers, Index clocks) {
  LaunchEstimate estimate{.barriers = barriers};
  estimate.add(blocks, clocks);
  return estimate;
}

}  // namespace

TEST_CASE("passes are one cluster where that has enough blocks, or is sooner done") {
  static_assert(!of(1, 0, 1000000).in_cluster());
  static_assert(!of(16, 0, 1000000).in_cluster());  // a pass without barriers needs no other blocks nearby
  static_assert(of(2, 1, 1000000).in_cluster());
  static_assert(of(16, 1, 1000000).in_cluster());
  static_assert(of(17, 1, 1000).in_cluster());
  static_assert(!of(17, 1, 1000000).in_cluster());
  static_assert(of(132, 10, 1000).in_cluster());
  static_assert(!of(132, 1, 1000).in_cluster());
  static_assert(!of(100000, 3, 500).in_cluster());
  static_assert(of(2, 1, 1000).followed_by(of(20, 0, 500)) ==
                LaunchEstimate{20, 2, 2000, 1500});  // one kernel in place of two
}

TEST_CASE("small steps are one cluster, and large ones have all of a GPU") {
  LaunchEstimate const t1 = step_of<T1>();
  CHECK(t1.in_cluster());
  CHECK(!t1.fits_cluster());
  CHECK(step_of<T4>().in_cluster());
#if COLDPRESS_NIGHTLY  // each takes the compiler long
  CHECK(!step_of<T2>().in_cluster());
  CHECK(step_of<T5>().in_cluster());
  CHECK(!step_of<T3>().in_cluster());
  CHECK(!step_of<T6>().in_cluster());
#endif
}

TEST_CASE("a step waits where it must, and is started as it was asked for") {
  // T1: a layer forward and the other, the loss of each sample, their sum, the gradient between the layers; then all
  // parameters' gradients beside each other.
  Step<T1> step;
  CHECK(step.estimate.barriers == 6);
  auto const& counts = cuda::counts();
  Index const barriers = counts.barriers, clusters = counts.clusters, blocks = counts.blocks, kernels = counts.kernels;
  step.solver.train_minibatch(bench::inputs<T1>(), bench::targets<T1>(1));
  CHECK(counts.kernels == kernels + 1);
  CHECK(counts.barriers == barriers + step.estimate.barriers);
  CHECK(counts.clusters == clusters + 1);
  CHECK(counts.blocks == blocks + grid::cluster_blocks);
  step.net.transfer().device().clusters = false;
  step.solver.train_minibatch(bench::inputs<T1>(), bench::targets<T1>(1));
  CHECK(counts.clusters == clusters + 1);
  CHECK(counts.blocks == blocks + grid::cluster_blocks + step.estimate.blocks);
}

namespace {

/// The lines of a text from the first that begins so.
std::string from(std::string const& text, std::string const& begin) { return text.substr(text.find(begin)); }

}  // namespace

TEST_CASE("the description of a network on a GPU says how its passes run there, and why") {
  Step<T1> const small;
  CHECK(from(describe(small.net), "forward is") ==
        "forward is one kernel: one cluster of 16 blocks with 3 barriers, faster than 32 blocks with barriers across "
        "the grid\n"
        "  a product of 64 x 128 sums of 784 terms, divided into 7 parts: 14 blocks, with the most multiply-adds\n"
        "  a product of 64 x 10 sums of 128 terms: 1 block\n");
  Network<Sequential<Linear{4}>, Shape{3}, DynamicBatch, Cuda> const tiny{1, Cuda::on("cuda:emulated")};
  CHECK(from(describe(tiny), "forward is") ==
        "forward is one kernel: one block, which does all the work\n"
        "  a product of 1 x 4 sums of 3 terms: 1 block\n");
  CHECK(from(describe(tiny, 1000), "forward is") ==
        "forward is one kernel: 16 blocks, or as many as fit, without a barrier\n"
        "  a product of 1000 x 4 sums of 3 terms: 16 blocks\n");
  std::string const on_cpu = describe(Network<Sequential<Linear{4}>, Shape{3}>{});
  CHECK(on_cpu.substr(on_cpu.rfind('\n', on_cpu.size() - 2) + 1).starts_with("all "));
}

TEST_CASE("the description of a step on a GPU says how many blocks each product has") {
  CHECK(describe(Step<T1>{}.solver) ==
        "a step is one kernel: one cluster of 16 blocks with 6 barriers, faster than 32 blocks with barriers across "
        "the grid\n"
        "  a product of 64 x 128 sums of 784 terms, divided into 7 parts: 14 blocks, with the most multiply-adds\n"
        "  a product of 64 x 10 sums of 128 terms: 1 block\n"
        "  a product of 64 x 128 sums of 10 terms: 2 blocks\n"
        "  a product of 10 x 128 sums of 64 terms: 2 blocks\n"
        "  a product of 128 x 784 sums of 64 terms: 26 blocks\n");
  CHECK(describe(Step<T4>{}.solver) ==
        "a step is one kernel: one cluster of 16 blocks with 1 barrier; 16 have samples of their own, in 55 KiB of "
        "shared memory\n"
        "  a product of 16 x 64 sums of 17 terms: 1 tile of each block's own samples\n"
        "  a product of 16 x 64 sums of 64 terms: 1 tile of each block's own samples, with the most multiply-adds\n"
        "  a product of 16 x 6 sums of 64 terms: 1 tile of each block's own samples\n"
        "  a product of 16 x 64 sums of 6 terms: 1 tile of each block's own samples\n"
        "  a product of 6 x 64 sums of 16 terms: 1 tile of each block's own samples\n"
        "  a product of 16 x 64 sums of 64 terms: 1 tile of each block's own samples\n"
        "  a product of 64 x 64 sums of 16 terms: 1 tile of each block's own samples\n"
        "  a product of 64 x 17 sums of 16 terms: 1 tile of each block's own samples\n");
#if COLDPRESS_NIGHTLY
  CHECK(describe(Step<T2>{}.solver) ==
        "a step is one kernel: 256 blocks, or as many as fit, with 12 barriers across the grid\n"
        "  a product of 128 x 512 sums of 784 terms, divided into 7 parts: 112 blocks, with the most multiply-adds\n"
        "  a product of 128 x 512 sums of 512 terms, divided into 4 parts: 64 blocks\n"
        "  a product of 128 x 10 sums of 512 terms, divided into 4 parts: 8 blocks\n"
        "  a product of 128 x 512 sums of 10 terms: 16 blocks\n"
        "  a product of 10 x 512 sums of 128 terms: 8 blocks\n"
        "  a product of 128 x 512 sums of 512 terms, divided into 4 parts: 64 blocks\n"
        "  a product of 512 x 512 sums of 128 terms: 64 blocks\n"
        "  a product of 512 x 784 sums of 128 terms: 104 blocks\n");
  CHECK(describe(Step<T3>{}.solver) ==
        "a step is one kernel: 2880 blocks, or as many as fit, with 23 barriers across the grid\n"
        "  a product of 20 x 36864 sums of 25 terms: 288 blocks\n"
        "  a product of 50 x 4096 sums of 500 terms, divided into 2 parts: 128 blocks\n"
        "  a product of 64 x 500 sums of 800 terms, divided into 7 parts: 56 blocks\n"
        "  a product of 64 x 10 sums of 500 terms, divided into 4 parts: 4 blocks\n"
        "  a product of 64 x 500 sums of 10 terms: 8 blocks\n"
        "  a product of 10 x 500 sums of 64 terms: 8 blocks\n"
        "  a product of 64 x 800 sums of 500 terms, divided into 4 parts: 52 blocks\n"
        "  a product of 500 x 800 sums of 64 terms: 104 blocks\n"
        "  a product of 20 x 9216 sums of 1250 terms, divided into 2 parts: 144 blocks, with the most multiply-adds\n"
        "  a product of 50 x 500 sums of 4096 terms, divided into 16 parts: 128 blocks\n"
        "  a product of 20 x 25 sums of 36864 terms, divided into 128 parts: 128 blocks\n");
  CHECK(describe(Step<T5>{}.solver) ==
        "a step is one kernel: one cluster of 16 blocks with 1 barrier, faster than 18 blocks with barriers across "
        "the grid; 14 have samples of their own, in 85 KiB of shared memory\n"
        "  a product of 30 x 128 sums of 1 term: 2 tiles of each block's own samples\n"
        "  a product of 3 x 1 sums of 32 terms: 1 tile of each block's own samples\n"
        "  a product of 3 x 32 sums of 1 term: 1 tile of each block's own samples\n"
        "  a product of 1 x 32 sums of 3 terms: 1 tile of each block's own samples\n"
        "  a product of 128 x 1 sums of 30 terms: 2 tiles of each block's own samples\n"
        "  a product of 128 x 32 sums of 27 terms: 2 tiles of each block's own samples, with the most multiply-adds\n");
  CHECK(describe(Step<T6>{}.solver) ==
        "a step is one kernel: 12800 blocks, or as many as fit, with 27 barriers across the grid\n"
        "  a product of 32 x 102400 sums of 75 terms: 800 blocks\n"
        "  a product of 32 x 25600 sums of 800 terms: 200 blocks, with the most multiply-adds\n"
        "  a product of 64 x 6400 sums of 800 terms, divided into 2 parts: 200 blocks\n"
        "  a product of 100 x 64 sums of 1024 terms, divided into 8 parts: 16 blocks\n"
        "  a product of 100 x 10 sums of 64 terms: 2 blocks\n"
        "  a product of 100 x 64 sums of 10 terms: 2 blocks\n"
        "  a product of 10 x 64 sums of 100 terms: 1 block\n"
        "  a product of 100 x 1024 sums of 64 terms: 32 blocks\n"
        "  a product of 64 x 1024 sums of 100 terms: 16 blocks\n"
        "  a product of 32 x 6400 sums of 1600 terms, divided into 3 parts: 150 blocks\n"
        "  a product of 64 x 800 sums of 6400 terms, divided into 10 parts: 130 blocks\n"
        "  a product of 32 x 25600 sums of 800 terms: 200 blocks\n"
        "  a product of 32 x 800 sums of 25600 terms, divided into 19 parts: 133 blocks\n"
        "  a product of 32 x 75 sums of 102400 terms, divided into 128 parts: 128 blocks\n");
#endif
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
