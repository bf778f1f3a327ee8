// The workloads as network types on a GPU, where each pass is one kernel.
#include <coldpress/cuda.hpp>

#include "launch_plan.hpp"
#include "static_path.hpp"

void bench::run_static_cuda(Options const& options) {
  run_static<Dense, Cuda>(options);
  run_static<Images, Cuda>(options);
  run_static<Sequences, Cuda>(options);
}

void bench::print_plans() {
  print_plans_of(Dense{});
  print_plans_of(Images{});
  print_plans_of(Sequences{});
}
