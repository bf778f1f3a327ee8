// The error that a rank throws if another one failed or does not answer.
#pragma once

#include <coldpress/core/error.hpp>

#include <chrono>

namespace coldpress::distributed {

/// Another rank has failed, has ended, or has not answered within the time limit. A solver whose step throws this has
/// not changed, but the ranks can take no further step together.
struct PeerError : Error {
  PeerError(std::string sentence, int of_rank) : Error(std::move(sentence)), rank(of_rank) {}
  int rank;  // the other one, as far as this rank knows
};

/// How long a rank waits for another by default, before it throws.
inline constexpr std::chrono::seconds usual_limit{60};

}  // namespace coldpress::distributed
