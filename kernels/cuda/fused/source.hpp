// Writes the source text of a config's pass, which NVRTC compiles to one kernel.
#pragma once

#include "program.hpp"

#include <coldpress/core/precision.hpp>

#include <string>
#include <string_view>

namespace coldpress::cuda {

/// The C++ name of a type.
template <class T>
constexpr std::string_view name_of_type() {
  std::string_view const name = __PRETTY_FUNCTION__;
  auto const begin = name.find("T = ") + 4;
  return name.substr(begin, name.find_first_of(";]", begin) - begin);
}

/// The text of the kernel that does `what` with a program and with arguments of the type `more`. Layers, shapes and the
/// plan are constants in it. It compiles only if its plan is the same as the program's own.
std::string source_of(dynamic::Program const& program, Precision precision, std::string_view what,
                      std::string_view more);

}  // namespace coldpress::cuda
