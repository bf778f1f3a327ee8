// The workloads as network types over the precompiled kernels. CMake compiles this source with the options that a
// user's program has by default: -O2, for any CPU of the architecture.
#include "static_path.hpp"

#include <coldpress/linked.hpp>

void bench::run_linked(Options const& options) {
  run_static<Dense, coldpress::LinkedCpu>(options);
  run_static<Images, coldpress::LinkedCpu>(options);
  run_static<Sequences, coldpress::LinkedCpu>(options);
  run_static<Amplifiers, coldpress::LinkedCpu>(options);
  run_static<Blocks, coldpress::LinkedCpu>(options);
  run_linked_modern(options);
}
