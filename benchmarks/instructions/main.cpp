// coldpress-instructions static|linked|dynamic ID CALLS: makes three calls of a workload, and then CALLS calls for a
// tool that counts the instructions of bench::counted. All paths use code for x86-64-v3, because valgrind does not know
// AVX-512.
#include "../dynamic_path.hpp"
#include "../static_path.hpp"

#include <coldpress/linked.hpp>

#include <cstdlib>
#include <exception>
#include <string_view>

int main(int argc, char** argv) try {
  if (argc != 4) {
    std::fprintf(stderr, "usage: %s static|linked|dynamic ID CALLS\n", argv[0]);
    return 2;
  }
  using Counted =
      coldpress::TypeList<bench::I2, bench::I3h8, bench::I3h16, bench::I3h32, bench::I5conv, bench::I5full, bench::T4>;
  bench::Options options;
  options.path = argv[1], options.workload = argv[2], options.counted = std::atol(argv[3]);
  if (options.path == "static") {
    bench::run_static<Counted, coldpress::Cpu>(options);
  } else if (options.path == "linked") {
    bench::run_static<Counted, coldpress::LinkedCpu>(options);
    bench::run_static<coldpress::TypeList<bench::N3, bench::N4, bench::N7>, coldpress::LinkedCpu>(options);
  } else {
    options.backend = "cpu:v3";
    bench::run_configs(options, Counted{});
  }
} catch (std::exception const& error) {
  std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
  return 1;
}
