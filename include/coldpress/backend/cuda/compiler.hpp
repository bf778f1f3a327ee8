// Compilers of kernels, for passes whose text is made while the program runs.
#pragma once

#include <coldpress/backend/cuda/pass.hpp>

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace coldpress::cuda {

/// Machine code of a text's kernel `pass` for GPUs of an architecture (90: sm_90), by NVRTC, which needs no GPU. It is
/// kept in $COLDPRESS_CACHE, else in coldpress/ of $XDG_CACHE_HOME or ~/.cache, and found there the next time; where
/// nothing can be written it is made anew each time. Throws UnsupportedError where NVRTC is not installed, DeviceError
/// where it refuses.
std::vector<std::byte> compile(std::string const& source, int architecture);
/// Takes what was kept of it away, since it cannot be loaded.
void forget(std::string const& source, int architecture);

/// Of the emulated device, which has none until a test gives it one: the function `pass` of a text.
using HostCompiler = std::function<Loops(std::string const& source)>;
HostCompiler& host_compiler();

}  // namespace coldpress::cuda
