// What a program on the board may do besides computing.
#pragma once

#include <cstdint>

namespace board {

void print(char const* text);
void print(std::uint32_t number);
void print_bits(float value);  // as eight hexadecimal digits
/// Counts from start_clock to clock(), in steps of 40 instructions where qemu runs with -icount shift=0.
void start_clock();
std::uint32_t clock();
[[noreturn]] void stop(char const* text, int status);

}  // namespace board
