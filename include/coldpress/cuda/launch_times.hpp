// Measures the duration of launches by a GPU's own clock, for benchmarks.
#pragma once

#include <vector>

namespace coldpress::cuda {

/// While an object of this type lives, each launch of this process is enclosed by two events of its GPU. There may be
/// one object at a time, and one thread that launches.
class LaunchTimes {
 public:
  LaunchTimes();
  LaunchTimes(LaunchTimes const&) = delete;
  LaunchTimes& operator=(LaunchTimes const&) = delete;
  ~LaunchTimes();
  /// Waits for all launches since the object was made; returns their durations in microseconds, in order. The emulated
  /// device has none.
  std::vector<double> read() const;
};

/// Used by devices: a launch in this stream, a cudaStream_t, begins and ends with this object's lifetime.
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
