// Static networks on a GPU: what coldpress.hpp has, with the backend Cuda. Link coldpress::cuda. In a file that nvcc
// compiles, a pass is one kernel; in others only Cuda::emulated() computes (docs/gpu.md).
#pragma once

#include <coldpress/backend/cuda/storage.hpp>
#include <coldpress/graph/network.hpp>
#include <coldpress/layers.hpp>
#include <coldpress/optim/optimizers.hpp>
#include <coldpress/optim/solver.hpp>
