// Network types with kernels that are compiled in, Network<..., Cpu>, in code whose default is LinkedCpu.
#pragma once

// coldpress/linked.hpp is the counterpart.

#include <coldpress/backend/cpu.hpp>
