// The functions of the backend of network types with ready-made kernels that no network is part of.
#include <coldpress/kernels/linked_cpu.hpp>

namespace coldpress {

template void fill_parameter<LinkedCpu, all_fillers>(Parameter const& parameter, RandomStream stream, float* stored);
template void read_parameter<LinkedCpu>(Parameter const& parameter, float const* stored, float* values);
template void write_parameter<LinkedCpu>(Parameter const& parameter, float* stored, float const* values);

}  // namespace coldpress
