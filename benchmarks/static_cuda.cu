// On a GPU a pass is one kernel.
#include <coldpress/cuda.hpp>

#include "static_path.hpp"

template void bench::run_static<bench::Dense, coldpress::Cuda>(Options const&);
template void bench::run_static<bench::Images, coldpress::Cuda>(Options const&);
template void bench::run_static<bench::Sequences, coldpress::Cuda>(Options const&);
