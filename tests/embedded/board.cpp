// Starts a program on the board, and lets it print through the debugger's semihosting. There is no operating system and no heap.
#include "board.hpp"

#include <cstring>

extern "C" {
extern char stack_end, data_begin, data_end, data_in_flash, bss_begin, bss_end;
using Initialiser = void (*)();
extern Initialiser const init_array_begin[], init_array_end[];
int main();
[[noreturn]] void start();
}

namespace {

int semihosting(int operation, void const* argument) {
  register int r0 asm("r0") = operation;
  register void const* r1 asm("r1") = argument;
  asm volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
  return r0;
}
[[noreturn]] void fault() { board::stop("fault\n", 1); }

}  // namespace

namespace board {

void print(char const* text) { semihosting(4, text); }  // SYS_WRITE0
void print(std::uint32_t number) {
  char text[12] = {};
  int first = 11;
  do text[--first] = static_cast<char>('0' + number % 10), number /= 10;
  while (number > 0);
  print(text + first);
}
void print_bits(float value) {
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  char text[10] = {};
  for (int digit = 0; digit < 8; ++digit) text[digit] = "0123456789abcdef"[bits >> (28 - 4 * digit) & 15];
  text[8] = '\n';
  print(text);
}
namespace {
// SysTick, which counts down at 25 MHz.
auto& control = *reinterpret_cast<std::uint32_t volatile*>(0xe000e010);
auto& reload = *reinterpret_cast<std::uint32_t volatile*>(0xe000e014);
auto& current = *reinterpret_cast<std::uint32_t volatile*>(0xe000e018);
}  // namespace
void start_clock() {
  reload = 0xffffff;
  current = 0;
  control = 5;
  while (current == 0) {
  }
}
std::uint32_t clock() { return (0xffffff - current) * 40; }

void stop(char const* text, int status) {
  print(text);
  std::uint32_t const reason[] = {0x20026, static_cast<std::uint32_t>(status)};  // ADP_Stopped_ApplicationExit
  for (;;) semihosting(0x20, reason);                                           // SYS_EXIT_EXTENDED
}

}  // namespace board

[[gnu::section(".vectors"), gnu::used]] void (*const vectors[16])() = {
    reinterpret_cast<void (*)()>(&stack_end), start, fault, fault, fault, fault, fault};

void start() {
  *reinterpret_cast<std::uint32_t volatile*>(0xe000ed88) |= 15u << 20;  // CPACR: the floating-point unit is on
  asm volatile("dsb\nisb");
  std::memcpy(&data_begin, &data_in_flash, static_cast<std::size_t>(&data_end - &data_begin));
  std::memset(&bss_begin, 0, static_cast<std::size_t>(&bss_end - &bss_begin));
  for (Initialiser const* initialise = init_array_begin; initialise != init_array_end; ++initialise) (*initialise)();
  board::stop("", main());
}
