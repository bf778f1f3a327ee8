// The backend of network types that name none.
#pragma once

// It is Cpu, whose kernels are compiled into the program, or LinkedCpu in programs that link coldpress::kernels. Files
// with different defaults can be linked into one program, because their networks have different names.

#if defined __CUDACC__  // nvcc does not support the vectors of g++
#define COLDPRESS_KERNELS kernels_compiled_in
namespace coldpress {
struct Cpu;
inline namespace kernels_compiled_in {
using DefaultBackend = Cpu;
}
}  // namespace coldpress
#elif defined COLDPRESS_LINKED_KERNELS
#include <coldpress/typed/tabled_program.hpp>
#define COLDPRESS_KERNELS kernels_linked
namespace coldpress::inline kernels_linked {
using DefaultBackend = LinkedCpu;
}
#else
#include <coldpress/backend/cpu.hpp>
#define COLDPRESS_KERNELS kernels_compiled_in
namespace coldpress::inline kernels_compiled_in {
using DefaultBackend = Cpu;
}
#endif
