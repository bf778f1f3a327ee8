// What communicators say of other ranks, and how they measure what is under way.
#pragma once

#include <coldpress/distributed/peer_error.hpp>
#include <coldpress/run/communicator.hpp>

#include <map>
#include <optional>
#include <string>

namespace coldpress::distributed {

/// Throws ConfigError unless `peer` is another one of `size` ranks than `rank`.
inline void check_peer(int peer, int rank, int size) {
  if (peer >= 0 && peer < size && peer != rank) return;
  throw ConfigError{"rank " + std::to_string(rank) + " of " + std::to_string(size) + " can neither send to rank " +
                    std::to_string(peer) + " nor receive from it"};
}
/// What a rank throws that has thrown PeerError before: a message that comes late would be taken for another one.
inline PeerError lost_before(int peer, int rank) {
  return {"rank " + std::to_string(rank) + " has given up before, and can do nothing more with rank " +
              std::to_string(peer),
          peer};
}

/// What a rank throws that has waited for a peer, `long_enough` to blame it, or until others gave up. `waits` has for
/// whom other ranks wait, as far as this one knows; one that waits for itself has failed. The error is about the rank
/// at the end of such a chain: it does not wait itself.
inline PeerError silence(int rank, int peer, bool long_enough, std::string const& how,
                         std::map<int, int> const& waits) {
  struct Link {
    int waiting, silent;
  };
  auto const text = [](int number) { return "rank " + std::to_string(number); };
  auto const end_of_chain = [&](Link link) -> std::optional<Link> {
    for (std::size_t links = 0; links <= waits.size(); ++links) {
      auto const next = waits.find(link.silent);
      if (next == waits.end()) return link.silent == rank ? std::nullopt : std::optional{link};
      link = {next->first, next->second};
    }
    return {};  // they wait in a circle
  };
  for (auto const& [other, silent] : waits) {
    if (other == silent) return {text(other) + " has failed (as " + text(rank) + " has heard)", other};
  }
  std::optional<Link> end = long_enough ? end_of_chain({rank, peer}) : std::nullopt;
  for (auto note = waits.begin(); !end && note != waits.end(); ++note) end = end_of_chain({note->first, note->second});
  if (end && end->waiting != rank)
    return {text(end->silent) + " has not answered " + text(end->waiting) + " (as " + text(rank) + " has heard)",
            end->silent};
  if (!end && !waits.empty()) {
    auto const& [waiting, silent] = waits.contains(peer) ? *waits.find(peer) : *waits.begin();
    return {text(waiting) + " has waited for " + text(silent) + " in vain", waiting};
  }
  return {text(peer) + " " + how + " (seen by " + text(rank) + ")", peer};
}

/// Measures for how long exchanges in the background are under way, as a rank sees it: only now and then.
class Stopwatch {
 public:
  /// The rank has computed, and now looks after its exchanges.
  void enter() { entered_ = Clock::now(); }
  /// It goes on computing. `still`: something that was under way before is so now. Else nobody knows when it ended.
  void leave(bool still, bool begun = false) {
    auto const now = Clock::now();
    if (runs_) time_.waited += Seconds{now - entered_}.count();
    if (runs_ && still) time_.hidden += Seconds{entered_ - left_}.count();
    runs_ = still || begun, left_ = now;
  }
  TravelTime time() const { return time_; }

 private:
  using Clock = std::chrono::steady_clock;
  using Seconds = std::chrono::duration<double>;
  Clock::time_point entered_{}, left_{};
  bool runs_ = false;
  TravelTime time_;
};

}  // namespace coldpress::distributed
