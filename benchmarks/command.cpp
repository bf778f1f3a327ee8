// coldpress-bench --workload ID --threads N --seconds S [--path static|linked|dynamic|fused|libraries] [--backend NAME]
// times a workload, or several such as T1,T4, and prints one line for each. For an unknown workload it prints nothing.
//
// The static path has the backends cpu and, with CUDA, cuda:N. linked is the same network types over the precompiled
// kernels, compiled with only -O2. fused is the dynamic path with each pass as one kernel. libraries is the dynamic
// path with matrix products by cuDNN and cuBLASLt, in coldpress-bench-libraries and coldpress-gpu-check.
//
// On a GPU, --data uploaded|resident says whether each call uploads its minibatch or the minibatch stays there, --host
// pipelined|waited whether calls follow each other or the host waits for each, and --together N how many passes are
// started at once. The line then ends with the time of a launch by the GPU's events.
//
// Instead: --plan prints how the static path's kernels are started on a GPU, for gpu_estimate.py; --latency CALLS
// prints the distribution of single calls; --limits prints what one core of this machine can do at most; --denormals
// prints how long steps of streams take while their inputs or states decay.
#include "command.hpp"

#include "denormals.hpp"
#include "limits.hpp"
#include "paths.hpp"
#include "workloads.hpp"

#include <cstdlib>
#include <exception>
#include <string_view>

namespace {

bool is_one_of(std::string_view given, std::string_view first, std::string_view second) {
  return given == first || given == second;
}

}  // namespace

int bench::command(int argc, char** argv) try {
  if (argc == 2 && argv[1] == std::string_view{"--limits"}) {
    bench::print_limits();
    return 0;
  }
  if (argc == 2 && argv[1] == std::string_view{"--denormals"}) {
    bench::print_denormals();
    return 0;
  }
#if defined COLDPRESS_HAS_CUDA
  if (argc == 2 && argv[1] == std::string_view{"--plan"}) {
    bench::print_plans();
    return 0;
  }
#endif
  bench::Options options;
  for (int i = 1; i < argc; i += 2) {
    std::string_view const key = argv[i];
    bool const known = i + 1 < argc;
    if (known && key == "--workload") {
      options.workload = argv[i + 1];
    } else if (known && key == "--threads") {
      options.threads = std::atoi(argv[i + 1]);
    } else if (known && key == "--together") {
      options.together = std::atoi(argv[i + 1]);
    } else if (known && key == "--seconds") {
      options.seconds = std::atof(argv[i + 1]);
    } else if (known && key == "--latency") {
      options.calls = std::atol(argv[i + 1]);
    } else if (known && key == "--data" && is_one_of(argv[i + 1], "uploaded", "resident")) {
      options.resident = argv[i + 1] == std::string_view{"resident"};
    } else if (known && key == "--host" && is_one_of(argv[i + 1], "pipelined", "waited")) {
      options.waited = argv[i + 1] == std::string_view{"waited"};
    } else if (known && key == "--path") {
      options.path = argv[i + 1];
    } else if (known && key == "--backend") {
      options.backend = argv[i + 1];
    } else {
      std::fprintf(
          stderr,
          "usage: %s [--workload ID] [--threads N] [--seconds S] [--path static|linked|dynamic|fused|libraries] "
          "[--backend NAME] [--data uploaded|resident] [--host pipelined|waited] [--together N] "
          "[--latency CALLS]\n"
          "       %s --limits | --denormals | --plan\n",
          argv[0], argv[0]);
      return 2;
    }
  }
  if (options.path == "static" && options.backend == "cpu") {
    bench::run_static<bench::Dense, coldpress::Cpu>(options);
    bench::run_static<bench::Images, coldpress::Cpu>(options);
    bench::run_static<bench::Sequences, coldpress::Cpu>(options);
    bench::run_static<bench::Amplifiers, coldpress::Cpu>(options);
  } else if (options.path == "linked" && options.backend == "cpu") {
    bench::run_linked(options);
#if defined COLDPRESS_HAS_CUDA
  } else if (options.path == "static") {
    bench::run_static_cuda(options);
#endif
  } else if (options.path == "dynamic" || options.path == "fused" || options.path == "libraries") {
    bench::run_dynamic(options);
  } else {
    std::fprintf(stderr, "%s: no path '%s' with backend '%s'\n", argv[0], options.path.c_str(),
                 options.backend.c_str());
    return 2;
  }
  return 0;
} catch (std::exception const& error) {
  std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
  return 1;
}
