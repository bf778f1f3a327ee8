// Where the tests of the GPU's kernels run: on the host as loops, and on the first GPU if there is one. The environment
// variable COLDPRESS_TEST_DEVICE names a single device instead, which has to be there.
#pragma once

#include "dynamic/tensors.hpp"

#include <cstdlib>

namespace coldpress::test {

inline std::vector<std::string> devices() {
  if (char const* const only = std::getenv("COLDPRESS_TEST_DEVICE")) return {Backend{only}.name()};
  std::vector<std::string> names{"cuda:emulated"};
  try {
    names.push_back(Backend{"cuda:0"}.name());
  } catch (UnsupportedError const& error) {
    WARN("skipped: on a GPU: " << error.what());
  }
  return names;
}

}  // namespace coldpress::test
