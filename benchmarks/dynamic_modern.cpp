#include "dynamic_path.hpp"
#include "modern.hpp"

void bench::run_dynamic_modern(Options const& options) { run_configs(options, Modern{}); }
