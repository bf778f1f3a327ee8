// Asks the CPU which levels it can run, and chooses the inference kernels of the best, or of the one that is named.
#include "levels.hpp"

#include <array>
#include <cstdlib>

namespace coldpress::cpu {

namespace {

struct Level {
  char const* name;
  bool runs;
  Table const& (*table)();
};

// Whether this CPU can run a level. A build may leave out levels.
[[maybe_unused]] bool runs_native() { return true; }
#if defined __x86_64__
[[maybe_unused]] bool runs_v2() { return __builtin_cpu_supports("sse4.2"); }
[[maybe_unused]] bool runs_v3() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
}
[[maybe_unused]] bool runs_v4() {
  return runs_v3() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}
#endif

/// The levels of this build, from the best to the most modest.
auto levels() {
#define LEVEL(name) Level{#name, runs_##name(), name::table},
  return std::to_array<Level>({COLDPRESS_LEVELS});
#undef LEVEL
}

}  // namespace

Table const& table_for(std::string const& level) {
  char const* const chosen = level.empty() ? std::getenv("COLDPRESS_CPU_LEVEL") : nullptr;
  std::string const wanted = chosen ? chosen : level;
  std::string known, built;
  for (Level const& l : levels()) {
    built += std::string{built.empty() ? "" : ", "} + l.name;
    if (!l.runs) continue;
    if (wanted.empty() || wanted == l.name) return l.table();
    known += std::string{known.empty() ? "" : ", "} + l.name;
  }
  if (known.empty())
    throw UnsupportedError{"cpu: this program has kernels for " + built + ", and this CPU cannot run them"};
  throw UnsupportedError{(chosen ? "COLDPRESS_CPU_LEVEL: " : "cpu: ") + ("there are no kernels '" + wanted) +
                         "' for this CPU, which can run " + known};
}

Table const& best_table() {
  static Table const& best = table_for({});
  return best;
}

}  // namespace coldpress::cpu
