// The program of the board on the host, compiled without exceptions and RTTI: prints the bits of the outputs, or, with the
// argument "refuse", what the error handler is told of an input that does not fit.
#include "network.hpp"
#include "signal.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>

static embedded::Net net{embedded::weights};

int main(int arguments, char** argument) {
  if (arguments > 1 && std::strcmp(argument[1], "refuse") == 0) {
    coldpress::error_handler = [](char const* sentence) {
      std::puts(sentence);
      std::exit(0);
    };
    net.step(std::array<float, 4>{});
    return 1;
  }
  embedded::run(net, [](float y) { embedded::print({&y, 1}); });
  return 0;
}
