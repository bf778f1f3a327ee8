// coldpress's headers as texts, for NVRTC: a program may run where they are not installed.
#pragma once

#include <span>

namespace coldpress::cuda {

struct Header {
  char const *name, *text;
};
/// Those that a pass includes, and those of the standard library and of Boost, which NVRTC has not.
std::span<Header const> headers();

}  // namespace coldpress::cuda
