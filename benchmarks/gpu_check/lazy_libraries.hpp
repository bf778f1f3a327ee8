// Loads cuDNN and cuBLASLt, which are half a gigabyte each, when the program starts, if they can be found.
#pragma once

#include <string>

namespace gpu_check {

/// Returns the reason why the libraries cannot be called, or an empty string. If they cannot be called or are not
/// `wanted`, a network that asks for libraries is told that there are none.
std::string load_libraries(bool wanted);
/// The versions of the libraries that were loaded.
std::string versions();

}  // namespace gpu_check
