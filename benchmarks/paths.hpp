// The ways to run a workload.
#pragma once

#include "timing.hpp"

namespace bench {

/// The workloads of a list as network types; a source each, since each has the compiler work out its networks.
template <class Workloads, class Backend>
void run_static(Options const& options);
/// All of them as network types over the ready-made kernels.
void run_linked(Options const& options);
/// All of them on a GPU.
void run_static_cuda(Options const& options);
/// How the kernels of all of them are started there: a line of JSON each, which gpu_estimate.py reads.
void print_plans();
/// All workloads as configs, through the dynamic API.
void run_dynamic(Options const& options);

}  // namespace bench
