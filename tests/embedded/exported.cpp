// Prints what a network computes that coldpress export wrote: the header is given as COLDPRESS_EXPORTED, its way of
// being called as STREAM, BRANCHES or IMAGES.
#include COLDPRESS_EXPORTED

#include "signal.hpp"

static exported::Network net{exported::weights};

int main() {
#if defined STREAM
  for (int t = 0; t < embedded::stream_steps; ++t) embedded::print(net.step(embedded::part(t, 3)).values);
#elif defined BRANCHES
  embedded::print(net.forward(embedded::part(0, 7), embedded::part(1, 6)).values);
  embedded::print(net.output<"second">().values);
#else
  embedded::print(net.forward(embedded::part(0, 2 * 8 * 8)).values);
#endif
  return 0;
}
