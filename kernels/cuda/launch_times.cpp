// Measures how long launches take, between two CUDA events each.
#include <coldpress/cuda/launch_times.hpp>

#include <cuda_runtime_api.h>

#include <utility>

namespace coldpress::cuda {
namespace {

using Pairs = std::vector<std::pair<cudaEvent_t, cudaEvent_t>>;
Pairs* pairs = nullptr;  // null unless times are being measured

/// Records an event in the stream; returns null if that fails.
cudaEvent_t record(void* stream) {
  cudaEvent_t event = nullptr;
  if (cudaEventCreateWithFlags(&event, cudaEventDefault) != cudaSuccess) return nullptr;
  cudaEventRecord(event, static_cast<cudaStream_t>(stream));
  return event;
}

}  // namespace

LaunchTimes::LaunchTimes() { pairs = new Pairs; }
LaunchTimes::~LaunchTimes() {
  for (auto const& [begin, end] : *pairs) cudaEventDestroy(begin), cudaEventDestroy(end);
  delete std::exchange(pairs, nullptr);
}
std::vector<double> LaunchTimes::read() const {
  std::vector<double> microseconds;
  for (auto const& [begin, end] : *pairs) {
    float milliseconds = 0;
    if (cudaEventSynchronize(end) == cudaSuccess && cudaEventElapsedTime(&milliseconds, begin, end) == cudaSuccess)
      microseconds.push_back(1e3 * static_cast<double>(milliseconds));
  }
  return microseconds;
}

LaunchTime::LaunchTime(void* stream) : stream_(stream) {
  if (pairs) pairs->emplace_back(record(stream_), nullptr);
}
LaunchTime::~LaunchTime() {
  if (pairs && !pairs->empty()) pairs->back().second = record(stream_);
}

}  // namespace coldpress::cuda
