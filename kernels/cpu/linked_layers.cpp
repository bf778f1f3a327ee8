// The functions of layers for network types with ready-made kernels.
#define COLDPRESS_COMPILED
#include <coldpress/kernels/linked_layers.hpp>
