// Static networks on a GPU: coldpress.hpp with the backend Cuda. Link coldpress::cuda.
#pragma once

// In a file that nvcc compiles, a pass is one kernel. In other files only the emulated device can compute
// (docs/gpu.md).

#include <coldpress/coldpress.hpp>
#include <coldpress/cuda/backend.hpp>
