#include "static_path.hpp"

template void bench::run_static<bench::Sequences, coldpress::Cpu>(Options const&);
