// cuDNN and cuBLASLt, which are half a gigabyte each: this program looks for them when it starts, and starts without
// them.
#pragma once

#include <string>

namespace gpu_check {

/// Why they cannot be called, or nothing. Where they cannot, or are not wanted, a network that asks for libraries is
/// told that there are none.
std::string load_libraries(bool wanted);
/// Of what has been loaded.
std::string versions();

}  // namespace gpu_check
