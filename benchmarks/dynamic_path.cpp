#include "dynamic_path.hpp"

void bench::run_dynamic(Options const& options) {
  run_configs(options, Dense{}, Images{}, Sequences{}, Amplifiers{}, Blocks{});
  run_dynamic_modern(options);
}
