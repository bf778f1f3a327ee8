#include "static_path.hpp"

template void bench::run_static<bench::Dense>(Options const&);
