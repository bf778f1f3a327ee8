// The ways to run a workload.
#pragma once

#include "timing.hpp"

namespace bench {

/// Runs the workloads of a list as network types. Each list has its own source, because compiling networks takes long.
template <class Workloads, class Backend>
void run_static(Options const& options);
/// Runs all workloads as network types over the precompiled kernels.
void run_linked(Options const& options);
void run_linked_modern(Options const& options);
/// Runs all workloads as network types on a GPU.
void run_static_cuda(Options const& options);
/// Prints how the kernels of all workloads are started on a GPU, one line of JSON each, for gpu_estimate.py.
void print_plans();
/// Runs all workloads as configs, through the dynamic API.
void run_dynamic(Options const& options);
void run_dynamic_modern(Options const& options);

}  // namespace bench
