// The same for the workloads of modern.hpp.
#include "modern.hpp"
#include "static_path.hpp"

#include <coldpress/linked.hpp>

void bench::run_linked_modern(Options const& options) { run_static<Modern, coldpress::LinkedCpu>(options); }
