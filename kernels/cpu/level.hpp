// What the files of an instruction set level begin with. They are compiled once for each level, with nothing but code
// of that level in them.
#pragma once

#include <coldpress/kernels/table.hpp>

#include <coldpress/backend/cpu.hpp>
#include <coldpress/backend/erased.hpp>

namespace coldpress::cpu::inline COLDPRESS_ISA {

/// The backend that static networks have, with the threads and the scratch of this call.
inline Cpu with(Context const& context) { return {{}, {context}}; }

}  // namespace coldpress::cpu::inline COLDPRESS_ISA
