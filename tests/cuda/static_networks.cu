// The same networks as nvcc compiles them: their kernels, and for the emulated device the host's code of them.
#include "cuda/static_networks.hpp"

#include <coldpress/cuda.hpp>

namespace coldpress::test {

std::vector<Story> stories_of_nvcc(std::string const& device) { return stories(Cuda::on(device)); }

}  // namespace coldpress::test
