// coldpress's headers as texts for NVRTC, because a program may run where they are not installed.
#pragma once

#include <span>

namespace coldpress::cuda {

struct Header {
  char const *name, *text;
};
/// The headers that a pass includes, and substitutes for those of the standard library and Boost, which NVRTC lacks.
std::span<Header const> headers();

}  // namespace coldpress::cuda
