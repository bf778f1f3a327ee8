// How many instructions a step of the network of tests/embedded takes on a board that qemu emulates.
#include "board.hpp"
#include "network.hpp"

static embedded::Net net{embedded::weights};

int main() {
  constexpr int turns = 10;
  float sum = 0;
  board::start_clock();
  std::uint32_t const begin = board::clock();
  for (int turn = 0; turn < turns; ++turn) embedded::run(net, [&](float y) { sum += y; });
  std::uint32_t const end = board::clock();
  asm volatile("" : : "r"(sum));
  board::print((end - begin) / (turns * embedded::steps));
  board::print(" instructions per step\n");
  return 0;
}
