// What launches take by a GPU's own clock, for benchmarks.
#pragma once

#include <vector>

namespace coldpress::cuda {

/// While it lasts, each launch of this process has an event of its GPU before it and one after it. One at a time, and
/// launches of one thread.
class LaunchTimes {
 public:
  LaunchTimes();
  LaunchTimes(LaunchTimes const&) = delete;
  LaunchTimes& operator=(LaunchTimes const&) = delete;
  ~LaunchTimes();
  /// Microseconds of each launch since it began, in order, for which it waits. An emulated device has none.
  std::vector<double> read() const;
};

/// For a device: its launch in this stream, a cudaStream_t, begins and ends with this object.
class LaunchTime {
 public:
  explicit LaunchTime(void* stream);
  LaunchTime(LaunchTime const&) = delete;
  LaunchTime& operator=(LaunchTime const&) = delete;
  ~LaunchTime();

 private:
  void* stream_;
};

}  // namespace coldpress::cuda
