// Runs a network on samples on the board: prints the stack that a call takes, the outputs, and the instructions of a
// call.
#include "board.hpp"
#include "samples.hpp"  // written by beside_emlearn.py

/// The network of coldpress or of emlearn, or none.
extern "C" void infer(float const* x, float* y);

namespace {

using Byte = unsigned char volatile;
constexpr int most_stack = 1 << 16;

/// Paints what lies below the stack, and looks for the lowest byte that has changed after a call.
[[gnu::noinline]] std::uint32_t stack_of_a_call(float* y) {
  Byte* top;
  asm volatile("mov %0, sp" : "=r"(top));
  for (Byte* p = top - most_stack; p != top; ++p) *p = 0xa5;
  infer(samples[0], y);
  Byte* lowest = top - most_stack;
  while (lowest != top && *lowest == 0xa5) ++lowest;
  return static_cast<std::uint32_t>(top - lowest);
}

}  // namespace

int main() {
  constexpr int turns = 20;
  float y[outputs] = {};
  board::print("stack ");
  board::print(stack_of_a_call(y));
  for (auto const& x : samples) {
    infer(x, y);
    for (float const value : y) {
      board::print("\noutput ");
      board::print_bits(value);
    }
  }
  board::start_clock();
  std::uint32_t const begin = board::clock();
  for (int turn = 0; turn < turns; ++turn) {
    for (auto const& x : samples) infer(x, y);
  }
  std::uint32_t const end = board::clock();
  board::print("instructions ");
  board::print((end - begin) / (turns * count));
  board::print("\n");
  return 0;
}
