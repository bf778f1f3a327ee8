#include "levels.hpp"

#include <array>
#include <cstdlib>

namespace coldpress::cpu {

namespace {

/// Makes the compiler emit `refuse`, which kernels of all levels call.
[[gnu::used]] void (*const refusing)(char const*) = refuse;

struct Level {
  char const* name;
  bool runs;
  Table const& (*table)();
};

/// The levels that this CPU can run, from the best to the most modest.
auto levels() {
#if defined __x86_64__
  bool const v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
  bool const v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                  __builtin_cpu_supports("avx512vl");
  return std::array{Level{"v4", v4, v4::table}, Level{"v3", v3, v3::table},
                    Level{"v2", static_cast<bool>(__builtin_cpu_supports("sse4.2")), v2::table}};
#else
  return std::array{Level{"native", true, native::table}};
#endif
}

}  // namespace

Table const& table_for(std::string const& level) {
  char const* const chosen = level.empty() ? std::getenv("COLDPRESS_CPU_LEVEL") : nullptr;
  std::string const wanted = chosen ? chosen : level;
  std::string known;
  for (Level const& l : levels()) {
    if (!l.runs) continue;
    if (wanted.empty() || wanted == l.name) return l.table();
    known += std::string{known.empty() ? "" : ", "} + l.name;
  }
  throw UnsupportedError{(chosen ? "COLDPRESS_CPU_LEVEL: " : "cpu: ") + ("there are no kernels '" + wanted) +
                         "' for this CPU, which can run " + known};
}

Table const& best_table() {
  static Table const& best = table_for({});
  return best;
}

}  // namespace coldpress::cpu
