#include "static_path.hpp"

template void bench::run_static<bench::Amplifiers, coldpress::Cpu>(Options const&);
