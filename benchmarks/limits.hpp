#pragma once

namespace bench {

/// Prints a line for each limit: "limit", its name, FLOP/s or bytes/s, and the bytes that the level holds (0: no
/// bound).
void print_limits();

}  // namespace bench
