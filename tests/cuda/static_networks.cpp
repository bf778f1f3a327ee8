// A network as a type makes on a GPU, one kernel a pass, what the reference makes, and the same bits in any order of
// the threads.
#include "cuda/static_networks.hpp"
#include "cuda/devices.hpp"

#include <coldpress/backend/reference.hpp>
#include <coldpress/cuda.hpp>

using namespace coldpress;
using namespace coldpress::test;

namespace coldpress::test {
std::vector<Story> stories_of_nvcc(std::string const& device);  // static_networks.cu
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
  auto const exact = stories(Storage<Reference<double>>{});
  for (std::string const& device : devices()) {
    INFO(device);
    auto const made = stories_of_nvcc(device);
    compare(made, exact);
    CHECK(same(made, stories_of_nvcc(device)));
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

TEST_CASE("without nvcc a static network has no kernels for a GPU, and without a GPU it says why") {
  CHECK_THROWS_AS(Cuda::on("cuda:99"), UnsupportedError);
  CHECK_THROWS_AS(Cuda::on("gpu"), UnsupportedError);
}
