// A guard that treats denormal numbers as zeros, for a thread that must keep a deadline.
#pragma once

#include <cstdint>

namespace coldpress {

/// While this object lives, the calling thread reads denormal numbers (below 1.2e-38 in float, 2.2e-308 in double) as
/// zeros and writes zeros instead of them: FTZ and DAZ of MXCSR on x86 with SSE, FZ of FPCR on 64-bit Arm. Afterwards
/// these bits are as they were before; other bits of the registers are never changed. Each thread needs its own guard.
/// On other processors it does nothing, and `works` is false.
class [[nodiscard]] FlushDenormals {
#if defined __SSE__ && (defined __x86_64__ || defined __SSE2__)
  using Register = std::uint32_t;
  static constexpr Register bits = 1u << 15 | 1u << 6;  // FTZ and DAZ
  static Register read() {
    Register value;
    asm volatile("stmxcsr %0" : "=m"(value) : : "memory");
    return value;
  }
  static void write(Register value) { asm volatile("ldmxcsr %0" : : "m"(value) : "memory"); }
#elif defined __aarch64__
  using Register = std::uint64_t;
  static constexpr Register bits = Register{1} << 24;  // FZ, for operands and results
  static Register read() {
    Register value;
    asm volatile("mrs %0, fpcr" : "=r"(value) : : "memory");
    return value;
  }
  static void write(Register value) { asm volatile("msr fpcr, %0" : : "r"(value) : "memory"); }
#else
  using Register = std::uint32_t;
  static constexpr Register bits = 0;
  static Register read() { return 0; }
  static void write(Register) {}
#endif

 public:
  static constexpr bool works = bits != 0;

  FlushDenormals() : before_(read()) { write(before_ | bits); }
  ~FlushDenormals() { write((read() & ~bits) | (before_ & bits)); }
  FlushDenormals(FlushDenormals const&) = delete;
  FlushDenormals& operator=(FlushDenormals const&) = delete;

 private:
  Register before_;
};

}  // namespace coldpress
