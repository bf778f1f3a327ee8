// Measures what one core of this machine can do at most: single-precision fused multiply-adds, and reads from each
// level of memory. All other figures are judged by these.
#include "limits.hpp"

#include "timing.hpp"

#include <coldpress/backend/vector.hpp>
#include <coldpress/core/memory.hpp>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace bench {
namespace {

using namespace coldpress;

/// The seconds of the fastest of the calls that fit into half a second.
template <class Call>
double quickest(Call call) {
  double best = 1e9;
  for (double const end = now() + 0.5; now() < end;) {
    double const start = now();
    call();
    best = std::min(best, now() - start);
  }
  return best;
}

double flops_per_second() {
  constexpr int sums = 24, turns = 20000;  // more than latency times throughput of any CPU so far
  cpu::Vector sum[sums];
  for (int i = 0; i < sums; ++i) sum[i] = cpu::splat(static_cast<float>(i));
  cpu::Vector const a = cpu::splat(0.999f), b = cpu::splat(1e-6f);
  double const seconds = quickest([&] {
    for (int n = 0; n < turns; ++n) {
      COLDPRESS_UNROLL
      for (int i = 0; i < sums; ++i) sum[i] = cpu::fma(sum[i], a, b);
    }
    keep(sum);
  });
  return 2.0 * sums * turns * cpu::lanes / seconds;
}

double bytes_per_second(std::size_t bytes) {
  constexpr int at_once = 8 * cpu::lanes;
  Index const size = static_cast<Index>(bytes / sizeof(float)) / at_once * at_once;
  HeapMemory<float> values;  // in whole cache lines
  values.reserve(size);
  std::size_t const turns = 1 + (std::size_t{1} << 24) / bytes;
  double const seconds = quickest([&] {
    cpu::Vector sum[8] = {};
    for (std::size_t n = 0; n < turns; ++n) {
      for (float const* p = values.data(); p != values.data() + size; p += at_once) {
        COLDPRESS_UNROLL
        for (int i = 0; i < 8; ++i) sum[i] += cpu::load(p + i * cpu::lanes);
      }
      keep(sum);
    }
  });
  return static_cast<double>(turns * static_cast<std::size_t>(size) * sizeof(float)) / seconds;
}

/// The sizes in bytes of the data caches of core 0, smallest first; a guess if the system does not tell.
std::vector<std::size_t> caches() {
  std::vector<std::size_t> sizes;
  for (int i = 0;; ++i) {
    std::filesystem::path const folder = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(i);
    std::string type;
    std::size_t kib = 0;
    std::ifstream{folder / "type"} >> type;
    if (!(std::ifstream{folder / "size"} >> kib)) break;
    if (type != "Instruction") sizes.push_back(kib << 10);
  }
  return sizes.empty() ? std::vector<std::size_t>{32 << 10, 512 << 10, 16 << 20} : sizes;
}

}  // namespace

void print_limits() {
  std::printf("limit\tpeak\t%.4g\t0\n", flops_per_second());
  int level = 0;
  for (std::size_t const size : caches())
    std::printf("limit\tL%d\t%.4g\t%zu\n", ++level, bytes_per_second(size / 2), size);
  std::printf("limit\tmemory\t%.4g\t0\n", bytes_per_second(std::size_t{256} << 20));
}

}  // namespace bench
