#include "static_path.hpp"

template void bench::run_static<bench::Sequences>(Options const&);
