// Declares the tables of kernels of the instruction set levels that the build has, from the best to the most modest.
#pragma once

#include <coldpress/kernels/dispatch.hpp>

namespace coldpress::cpu {

// The build defines COLDPRESS_LEVELS as LEVEL(v4) LEVEL(v3) LEVEL(v2), or what it was asked for.
#define LEVEL(name)                      \
  namespace name {                       \
  Table const& table();                  \
  TrainingTable const& training_table(); \
  StreamTable const& stream_table();     \
  }
COLDPRESS_LEVELS
#undef LEVEL

}  // namespace coldpress::cpu
