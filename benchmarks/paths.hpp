#pragma once

#include "timing.hpp"

namespace bench {

void run_static(Options const& options);
void run_dynamic(Options const& options);

}  // namespace bench
