#include "board.hpp"
#include "network.hpp"

static embedded::Net net{embedded::weights};

int main() {
  coldpress::error_handler = [](char const* sentence) {
    board::print(sentence);
    board::stop("\n", 1);
  };
  embedded::run(net, [](float y) { board::print_bits(y); });
  return 0;
}
