// Static networks on a GPU: coldpress.hpp with the backend Cuda. Link coldpress::cuda. In a file that nvcc compiles a
// pass is one kernel; in others only the emulated device computes (docs/gpu.md).
#pragma once

#include <coldpress/backend/cuda/host_transfer.hpp>
#include <coldpress/coldpress.hpp>
