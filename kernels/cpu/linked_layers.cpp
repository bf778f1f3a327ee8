// The functions of layers for network types with ready-made kernels.
#include "recorded_cpu.hpp"  // so that they are inlined: for a small layer, one more call takes as long as its kernel

#define COLDPRESS_COMPILED
#include <coldpress/kernels/linked_layers.hpp>
