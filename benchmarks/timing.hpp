// Times one call and reports it in one line.
#pragma once

// The line has contender, workload, threads, median and minimum in microseconds, and notes; for a GPU also the median
// time of a launch by the GPU's events.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#if defined COLDPRESS_HAS_CUDA
#include <coldpress/cuda/launch_times.hpp>
#endif

namespace bench {

struct Options {
  std::string workload;  // empty: all
  std::string path = "static";
  std::string backend = "cpu";  // of the dynamic path
  int threads = 1;
  int together = 1;       // number of passes that a GPU starts at once
  bool resident = false;  // whether the minibatch stays on the GPU
  bool waited = false;    // whether the host waits for each call, instead of having many calls under way
  bool on_gpu() const { return backend.starts_with("cuda"); }
  double seconds = 1;
  long calls = 0;    // above 0: times this many calls one by one
  long counted = 0;  // above 0: makes this many calls in counted(), for a tool that counts instructions, and times
                     // nothing
};

inline double now() {
  using namespace std::chrono;
  return duration<double>(steady_clock::now().time_since_epoch()).count();
}

/// Makes the compiler assume that the memory at p is read and written.
inline void keep(void const* p) { asm volatile("" : : "r"(p) : "memory"); }

/// Uniformly distributed numbers in [-scale, scale], the same on every machine.
inline std::vector<float> noise(std::size_t count, std::uint32_t seed, float scale) {
  std::vector<float> values(count);
  std::uint32_t x = seed * 2654435761u + 12345u;
  for (float& value : values) {
    x ^= x << 13, x ^= x >> 17, x ^= x << 5;
    value = scale * (static_cast<float>(x) * (2.0f / 4294967296.0f) - 1.0f);
  }
  return values;
}

/// Times each call, beginning with the very first, and prints "latency", workload, number of calls, then the first
/// call, p50, p99, p99.9 and the longest in microseconds, and notes. All times include reading the clock.
template <class Call>
void report_latency(Options const& options, char const* workload, Call call) {
  std::vector<double> times(static_cast<std::size_t>(options.calls));
  for (double& time : times) {
    double const begin = now();
    call();
    time = (now() - begin) * 1e6;
  }
  double const first = times.front();
  std::sort(times.begin(), times.end());
  auto const at = [&](double part) {
    return times[static_cast<std::size_t>(part * static_cast<double>(times.size() - 1))];
  };
  std::printf("latency\t%s\t%ld\t%.4g\t%.4g\t%.4g\t%.4g\t%.4g\t%s\n", workload, options.calls, first, at(0.5), at(0.99),
              at(0.999), times.back(), options.path.c_str());
  std::fflush(stdout);
}

/// The function whose instructions benchmarks/instructions counts.
template <class Call>
__attribute__((noinline)) void counted(Call call, long calls) {
  for (long i = 0; i < calls; ++i) call();
}

/// Warms up for 0.3 s, then times samples of at least 40 us each and prints the line.
template <class Call>
void report(Options const& options, char const* workload, Call call) {
  if (options.calls > 0) return report_latency(options, workload, call);
  if (options.counted > 0) {
    for (int i = 0; i < 3; ++i) call();  // what only the first calls do
    return counted(call, options.counted);
  }
  double start = now();
  long calls = 0;
  do call(), ++calls;
  while (now() - start < 0.3 || calls < 3);
  long const per_sample = std::max(1L, static_cast<long>(40e-6 * static_cast<double>(calls) / (now() - start)));
  std::vector<double> samples;
  start = now();
  while (now() - start < options.seconds || samples.size() < 15) {
    double const begin = now();
    for (long i = 0; i < per_sample; ++i) call();
    samples.push_back((now() - begin) / static_cast<double>(per_sample) * 1e6);
  }
  std::sort(samples.begin(), samples.end());
  std::printf("coldpress\t%s\t%d\t%.4g\t%.4g\t%s\n", workload, options.threads, samples[samples.size() / 2], samples[0],
              options.path.c_str());
  std::fflush(stdout);
}

inline double median_of(std::vector<double> values) {
  if (values.empty()) return 0;
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}
/// The microseconds per launch of call() by a GPU's events; 0 without a GPU.
template <class Call, class Wait>
double by_events(Call call, Wait wait, [[maybe_unused]] long calls) {
#if defined COLDPRESS_HAS_CUDA
  coldpress::cuda::LaunchTimes const times;
  for (long i = 0; i < calls; ++i) call();
  wait();
  return median_of(times.read());
#else
  return call(), wait(), 0;
#endif
}

/// For a GPU: call() starts work, and wait() returns when it is done. A sample is one call that is waited for, or as
/// many consecutive calls as take 5 ms.
template <class Call, class Wait>
void report_gpu(Options const& options, char const* workload, Call call, Wait wait) {
  auto const some = [&](long calls) {
    double const begin = now();
    for (long i = 0; i < calls; ++i) call();
    wait();
    return (now() - begin) * 1e6;
  };
  double const start = now();
  long calls = 0;
  do some(8), calls += 8;
  while (now() - start < 0.2);
  double const each = (now() - start) / static_cast<double>(calls);
  long const many = std::max(1L, std::min(2000L, static_cast<long>(5e-3 / each)));
  long const at_once = options.waited ? 1 : many;
  std::vector<double> samples;
  for (double const end = now() + options.seconds; now() < end || samples.size() < 5;)
    samples.push_back(some(at_once) / static_cast<double>(at_once));
  double const on_gpu = by_events(call, wait, std::min(200L, many)) / options.together;
  double const median = median_of(samples);
  std::printf("coldpress\t%s\t%d\t%.4g\t%.4g\t%s, %s, %s%s\t%.4g\n", workload, options.threads, median,
              *std::min_element(samples.begin(), samples.end()), options.path.c_str(),
              options.resident ? "resident" : "uploaded", options.waited ? "waited" : "pipelined",
              options.together > 1 ? (", " + std::to_string(options.together) + " a launch").c_str() : "", on_gpu);
  std::fflush(stdout);
}

/// Reports the losses on stderr, which shows that the training program learns.
inline void report_loss(char const* workload, double first, double last) {
  std::fprintf(stderr, "%s loss %.7g -> %.7g\n", workload, first, last);
}

}  // namespace bench
