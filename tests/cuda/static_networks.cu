// The same networks as nvcc compiles them: their kernels, and for the emulated device the host's code of them.
#include "cuda/static_networks.hpp"

#include <coldpress/cuda.hpp>

namespace coldpress::test {

std::vector<Story> stories_of_nvcc(std::string const& device, bool clusters) {
  auto const at = Cuda::on(device);
  at.device().clusters = clusters;
  return stories(at);
}

}  // namespace coldpress::test
