// Compilers for passes whose source text is made while the program runs.
#pragma once

#include <coldpress/cuda/pass.hpp>

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace coldpress::cuda {

/// Compiles the kernel `pass` of a source text with NVRTC, which needs no GPU, and returns its machine code for GPUs of
/// an architecture (90 is sm_90). If NVRTC does not know the architecture, the result is PTX for the newest one before
/// it. Results are cached in $COLDPRESS_CACHE, else in coldpress/ of $XDG_CACHE_HOME or ~/.cache; if nothing can be
/// written there, or a file is damaged, the text is compiled again. Throws UnsupportedError if NVRTC is not installed
/// or knows no such GPU, DeviceError if it rejects the text.
std::vector<std::byte> compile(std::string const& source, int architecture);

/// The compiler of the emulated device, which returns the function `pass` of a text. It is empty until a test sets it.
using HostCompiler = std::function<Loops(std::string const& source)>;
HostCompiler& host_compiler();

}  // namespace coldpress::cuda
