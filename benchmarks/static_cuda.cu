// On a GPU a pass is one kernel.
#include <coldpress/cuda.hpp>

#include "static_path.hpp"

void bench::run_static_cuda(Options const& options) {
  run_static<Dense, Cuda>(options);
  run_static<Images, Cuda>(options);
  run_static<Sequences, Cuda>(options);
}
