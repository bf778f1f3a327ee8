// The passes of networks that are types, by real threads: ThreadSanitizer reports nothing, and the bits are those of
// one that does all.
#include "races.hpp"

#include <coldpress/cuda.hpp>

#include "../../../benchmarks/workloads.hpp"

using namespace coldpress;
using namespace coldpress::test;

namespace {

/// Losses, outputs and weights of some steps of a workload.
template <class W>
std::vector<float> steps_of() {
  using Net = Network<typename W::Net, W::shape, Batch<W::batch>, Cuda>;
  Net net{7, Cuda::on("cuda:emulated")};
  Solver<Net, W::loss, bench::optimizer> solver{net};
  std::vector<float> made;
  for (int step = 0; step < 2; ++step) {
    auto const targets = bench::targets<W>(solver.target_shape.size());
    made.push_back(solver.train_minibatch(bench::inputs<W>(), targets));
    for (float y : solver.output()) made.push_back(y);
  }
  std::vector<float> weight(static_cast<std::size_t>(Net::weight_shape(0).size()));
  net.read_weight(0, weight);
  made.insert(made.end(), weight.begin(), weight.end());
  return made;
}

}  // namespace

TEST_CASE("a step of T1 has no race") { check_races(steps_of<bench::T1>); }
TEST_CASE("a step of T4, whose blocks have samples of their own, has no race") { check_races(steps_of<bench::T4>); }
TEST_CASE("a step of T5, which is recurrent, has no race") { check_races(steps_of<bench::T5>); }
