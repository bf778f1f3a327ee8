// Where the tests of the GPU's kernels run: on the host as loops, and on the first GPU if there is one.
#pragma once

#include "dynamic/tensors.hpp"

namespace coldpress::test {

inline std::vector<std::string> devices() {
  std::vector<std::string> names{"cuda:emulated"};
  try {
    names.push_back(Backend{"cuda:0"}.name());
  } catch (UnsupportedError const& error) {
    WARN("skipped: on a GPU: " << error.what());
  }
  return names;
}

}  // namespace coldpress::test
