#include "static_path.hpp"

template void bench::run_static<bench::Images, coldpress::Cpu>(Options const&);
