// Measures what one core of this machine can do at most.
#pragma once

namespace bench {

/// Prints a line for each limit: "limit", its name, FLOP/s or bytes/s, and the size in bytes of the memory level (0:
/// unbounded).
void print_limits();

}  // namespace bench
