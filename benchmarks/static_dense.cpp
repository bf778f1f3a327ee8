#include "static_path.hpp"

template void bench::run_static<bench::Dense, coldpress::Cpu>(Options const&);
