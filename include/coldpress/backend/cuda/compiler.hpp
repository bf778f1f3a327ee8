// Compilers of kernels, for passes whose text is made while the program runs.
#pragma once

#include <coldpress/backend/cuda/pass.hpp>

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace coldpress::cuda {

/// Machine code of a text's kernel `pass` for GPUs of an architecture (90: sm_90), by NVRTC, which needs no GPU; for
/// one that NVRTC does not know, PTX of the newest before it. It is kept in $COLDPRESS_CACHE, else in coldpress/ of
/// $XDG_CACHE_HOME or ~/.cache, and found there the next time; where nothing can be written, or what is there is
/// damaged, it is made anew. Throws UnsupportedError where NVRTC is not installed or knows no such GPU, DeviceError
/// where it refuses the text.
std::vector<std::byte> compile(std::string const& source, int architecture);

/// Of the emulated device, which has none until a test gives it one: the function `pass` of a text.
using HostCompiler = std::function<Loops(std::string const& source)>;
HostCompiler& host_compiler();

}  // namespace coldpress::cuda
