// A network as a type makes on a GPU, one kernel a pass, what the reference makes, and the same bits in any order of
// the threads.
#include "cuda/static_networks.hpp"
#include "cuda/devices.hpp"

#include <coldpress/backend/reference.hpp>
#include <coldpress/cuda.hpp>
#include <coldpress/persist.hpp>

using namespace coldpress;
using namespace coldpress::test;

namespace coldpress::test {
std::vector<Story> stories_of_nvcc(std::string const& device, bool clusters = true);  // static_networks.cu
}

namespace {

double norm(std::vector<double> const& x) {
  double sum = 0;
  for (double v : x) sum += v * v;
  return std::sqrt(sum);
}
void compare(std::vector<Story> const& made, std::vector<Story> const& wanted) {
  REQUIRE(made.size() == wanted.size());
  for (std::size_t i = 0; i < made.size(); ++i) {
    INFO(made[i].name);
    REQUIRE(made[i].values.size() == wanted[i].values.size());
    std::vector<double> error = made[i].values;
    for (std::size_t e = 0; e < error.size(); ++e) error[e] -= wanted[i].values[e];
    CHECK(norm(error) <= 1e-5 * norm(wanted[i].values));
    CHECK(norm(error) > 0);  // float against double
  }
}
bool same(std::vector<Story> const& a, std::vector<Story> const& b) {
  bool same = a.size() == b.size();
  for (std::size_t i = 0; same && i < a.size(); ++i) same = same_bits(a[i].values, b[i].values);
  return same;
}

}  // namespace

TEST_CASE("a static network makes on a GPU what the reference makes") {
  auto const exact = stories(HostTransfer<Reference<double>>{});
  for (std::string const& device : devices()) {
    INFO(device);
    auto const made = stories_of_nvcc(device);
    compare(made, exact);
    CHECK(same(made, stories_of_nvcc(device)));
    CHECK(same(made, stories_of_nvcc(device, false)));  // by all of a GPU, not by one cluster
  }
  CHECK(same(stories(Cuda::on("cuda:emulated")), stories_of_nvcc("cuda:emulated")));  // whoever compiles
}

TEST_CASE("the order of threads changes no bit of a static network") {
  auto const forward = stories_of_nvcc("cuda:emulated");
  for (auto const order : {grid::Order::backward, grid::Order::shuffled}) {
    grid::order() = order;
    CHECK(same(forward, stories_of_nvcc("cuda:emulated")));
  }
  grid::order() = grid::Order::forward;
}

TEST_CASE("what a network on a GPU has learned goes on on a CPU, and back") {
  using Layers = Sequential<Linear{9}, TanH{}, Dropout{.probability = 0.2f}, Linear{3}>;
  using OnGpu = Network<Layers, Shape{6}, DynamicBatch, Cuda>;
  using OnCpu = Network<Layers, Shape{6}>;
  constexpr Adam optimizer{.learning_rate = 0.01f};
  OnGpu gpu{3, Cuda::on("cuda:emulated")};
  OnCpu cpu{4}, alone{3};
  Solver<OnGpu, MeanSquaredError{}, optimizer> there{gpu};
  Solver<OnCpu, MeanSquaredError{}, optimizer> here{cpu}, never_moved{alone};
  testing::Random random{11};
  auto const step = [&](auto& solver) {
    auto const x = random.values<float>(4 * 6), y = random.values<float>(4 * 3);
    float const loss = solver.train_minibatch(x, y);
    CHECK(loss == Approx(never_moved.train_minibatch(x, y)).epsilon(1e-5));
  };
  for (int i = 0; i < 3; ++i) step(there);
  persist::resume(here, persist::checkpoint_of(there));
  for (int i = 0; i < 3; ++i) step(here);
  persist::resume(there, persist::checkpoint_of(here));
  for (int i = 0; i < 3; ++i) step(there);
}

TEST_CASE("a network on a GPU moves, and says what it cannot take") {
  using Net = Network<Sequential<Linear{4}, ReLU{}>, Shape{3}, DynamicBatch, Cuda>;
  Net first{1, Cuda::on("cuda:emulated")};
  std::vector<float> const x{1, 2, 3, 4, 5, 6};
  auto const before = copy_of<float>(first.forward(x));
  Net second = std::move(first);
  CHECK(same_bits(before, copy_of<float>(second.forward(x))));
  CHECK_THROWS_AS(second.forward(std::vector<float>{1, 2}), ShapeError);
  CHECK(same_bits(before, copy_of<float>(second.forward(x))));
  Net::Workspace separate{second.transfer()};
  CHECK(same_bits(before, copy_of<float>(second.forward(x, separate))));
}

TEST_CASE("steps of a static network that are started together have the bits of one a launch") {
  using Net =
      Network<Sequential<Linear{9}, TanH{}, Dropout{.probability = 0.2f}, Linear{3}>, Shape{6}, DynamicBatch, Cuda>;
  Net one{3, Cuda::on("cuda:emulated")}, three{3, Cuda::on("cuda:emulated", 3)};
  Solver<Net, MeanSquaredError{}, Adam{}> separate{one}, together{three};
  testing::Random random{11};
  auto const train = [&](int steps) {
    for (int i = 0; i < steps; ++i) {
      auto x = random.values<float>(4 * 6), y = random.values<float>(4 * 3);
      separate.train_minibatch(x, y), together.train_minibatch(x, y);
      std::fill(x.begin(), x.end(), 1e9f);
    }
  };
  auto const weights = [](Net const& net) {
    std::vector<float> values(9 * 6);
    net.read_weight(0, values);
    return values;
  };
  train(6);
  Index const launches = cuda::counts().launches;
  train(6);
  CHECK(cuda::counts().launches - launches == 6 + 2);
  CHECK(same_bits(weights(one), weights(three)));
  train(2);
  CHECK(same_bits(weights(one), weights(three)));
  train(4);
  CHECK(same_bits(weights(one), weights(three)));
}

TEST_CASE("tensor cores' precision is a type of its own") {
  using Layers = Sequential<Linear{40}, TanH{}, Linear{3}>;
  auto const made = [&]<class Backend>(HostTransfer<Backend> const& at) {
    Network<Layers, Shape{70}, DynamicBatch, Backend> net{5, at};
    return copy_of<double>(net.forward(testing::Random{2}.values<float>(8 * 70)));
  };
  auto const exact = made(Cuda::on("cuda:emulated"));
  auto const distance = [&](std::vector<double> y) {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] -= exact[i];
    return norm(y) / norm(exact);
  };
  double const tf32 = distance(made(CudaTf32::on("cuda:emulated"))),
               bfloat16 = distance(made(CudaBfloat16::on("cuda:emulated")));
  CHECK((tf32 > 0 && tf32 <= 2e-3));
  CHECK((bfloat16 > tf32 && bfloat16 <= 1e-2));
}

TEST_CASE("without nvcc a static network has no kernels for a GPU, and without a GPU it says why") {
  CHECK_THROWS_AS(Cuda::on("cuda:99"), UnsupportedError);
  CHECK_THROWS_AS(Cuda::on("gpu"), UnsupportedError);
  // Where a network is to be, nobody has to say.
  using Net = Network<Sequential<Linear{4}, ReLU{}>, Shape{3}, DynamicBatch, Cuda>;
  try {
    Net const net{42};
    CHECK_THROWS_AS(net.forward(std::vector<float>(3), *std::make_unique<Net::Workspace>(net.transfer())),
                    UnsupportedError);
  } catch (UnsupportedError const& error) {
    WARN("skipped: on a GPU: " << error.what());
  }
}
