// Ranks that are threads of one process, for tests and to try things out.
#pragma once

#include <coldpress/distributed/peer_error.hpp>
#include <coldpress/run/communicator.hpp>

#include <functional>

namespace coldpress::distributed {

/// Calls f(communicator) on a thread for each rank, and returns when all have returned. If one throws, the others'
/// communicators throw PeerError instead of waiting for it; then an error that is not a PeerError is thrown again, that
/// of the lowest rank that has one. A communicator that has thrown PeerError does so in every later call. Throws
/// ConfigError unless there are 1 to 1024 ranks and the limit is positive; so do the communicators for a rank that does
/// not exist.
class InProcess {
 public:
  using Seconds = std::chrono::duration<double>;
  explicit InProcess(int ranks, Seconds limit = usual_limit);
  void run(std::function<void(Communicator&)> const& f) const;

 private:
  int ranks_;
  Seconds limit_;
};

}  // namespace coldpress::distributed
