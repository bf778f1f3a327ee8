// Passes messages between threads through queues in memory, and ends all ranks if one fails or waits in vain.
#include <coldpress/distributed/in_process.hpp>

#include "peers.hpp"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

namespace coldpress::distributed {
namespace {

using Message = std::vector<unsigned char>;

/// The messages that are under way, and how the ranks have ended.
struct Post {
  enum class State { runs, returned, failed };
  explicit Post(int ranks) : states(static_cast<std::size_t>(ranks)) {}

  std::mutex mutex;
  std::condition_variable changed;
  struct Way {
    int from, to, channel;  // the last -1 for what is sent in the foreground
    auto operator<=>(Way const&) const = default;
  };
  std::map<Way, std::deque<Message>> waiting;
  std::vector<State> states;
  std::map<int, int> waits;  // whom a rank waits for
  int first_failed = -1;

  /// A rank has ended; if it failed, then because of the rank `culprit`.
  void end(int rank, State how, int culprit = -1) {
    std::lock_guard const lock{mutex};
    states[static_cast<std::size_t>(rank)] = how;
    if (how == State::failed && first_failed < 0) first_failed = culprit;
    changed.notify_all();
  }
};

class Rank final : public Communicator {
 public:
  Rank(Post& post, int rank, InProcess::Seconds limit) : post_(post), rank_(rank), limit_(limit) {}
  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(post_.states.size()); }
  void send(void const* bytes, std::size_t count, int to) override { post(bytes, count, to, foreground); }
  void receive(void* bytes, std::size_t count, int from) override { take({bytes, count, from}, foreground); }
  void begin_exchange(int channel, void const* sent, std::size_t sent_count, void* received, std::size_t received_count,
                      int with) override {
    watch_.enter();
    bool const still = advance_all();
    post(sent, sent_count, with, channel);
    check_usable(with);
    under_way_.at(static_cast<std::size_t>(channel)).push_back({received, received_count, with});
    watch_.leave(still, true);
  }
  std::size_t under_way(int channel) override {
    watch_.enter();
    watch_.leave(advance_all());
    return under_way_.at(static_cast<std::size_t>(channel)).size();
  }
  void wait_for(int channel, std::size_t most) override {
    watch_.enter();
    watch_.leave(advance_all());
    watch_.enter();
    auto& all = under_way_.at(static_cast<std::size_t>(channel));
    while (all.size() > most) take_first(all, channel);
    watch_.leave(advance_all());
  }
  TravelTime travel_time() const override { return watch_.time(); }
  void give_up() noexcept override {
    if (failed_) return;
    failed_ = true;
    for (auto& all : under_way_) all.clear();
    post_.end(rank_, Post::State::failed, rank_);
  }

 private:
  static constexpr int foreground = -1;
  struct Place {
    void* bytes;
    std::size_t count;
    int from;
  };
  void post(void const* bytes, std::size_t count, int to, int channel) {
    if (count == 0) return;
    check_usable(to);
    auto const* const first = static_cast<unsigned char const*>(bytes);
    Message message{first, first + count};
    std::lock_guard const lock{post_.mutex};
    check_runs(to);
    post_.waiting[{rank_, to, channel}].push_back(std::move(message));
    post_.changed.notify_all();
  }
  void take(Place const& place, int channel) {
    if (place.count == 0) return;
    int const from = place.from;
    check_usable(from);
    std::unique_lock lock{post_.mutex};
    auto& messages = post_.waiting[{from, rank_, channel}];
    auto const ready = [&] {
      if (messages.empty()) check_runs(from);
      return !messages.empty();
    };
    post_.waits[rank_] = from;
    if (!post_.changed.wait_for(lock, limit_, ready)) {
      failed_ = true;
      throw silence(rank_, from, true, "has sent nothing for " + std::to_string(limit_.count()) + " s", post_.waits);
    }
    post_.waits.erase(rank_);
    Message const message = std::move(messages.front());
    messages.pop_front();
    failed_ = message.size() != place.count;
    if (failed_)
      throw PeerError{"rank " + std::to_string(from) + " has sent " + std::to_string(message.size()) +
                          " bytes to rank " + std::to_string(rank_) + ", which expected " + std::to_string(place.count),
                      from};
    std::memcpy(place.bytes, message.data(), place.count);
  }

  void take_first(std::deque<Place>& all, int channel) {
    take(all.front(), channel);
    all.pop_front();
  }
  bool has_come(int from, int channel) {
    std::lock_guard const lock{post_.mutex};
    return !post_.waiting[{from, rank_, channel}].empty();
  }
  /// Takes what has come in the background. Says whether anything is left to come.
  bool advance_all() {
    bool any = false;
    for (int channel = 0; channel < channels; ++channel) {
      auto& all = under_way_.at(static_cast<std::size_t>(channel));
      while (!all.empty() && (all.front().count == 0 || has_come(all.front().from, channel))) take_first(all, channel);
      any = any || !all.empty();
    }
    return any;
  }
  void check_usable(int other) const {
    check_peer(other, rank_, size());
    if (failed_) throw lost_before(other, rank_);
  }
  /// Throws if the other rank no longer runs, and names the one that was the first to fail.
  void check_runs(int other) {
    if (post_.states[static_cast<std::size_t>(other)] == Post::State::runs) return;
    failed_ = true;
    if (post_.first_failed >= 0)
      throw PeerError{"rank " + std::to_string(post_.first_failed) + " has failed", post_.first_failed};
    throw PeerError{"rank " + std::to_string(other) + " has ended", other};
  }
  Post& post_;
  int rank_;
  InProcess::Seconds limit_;
  bool failed_ = false;
  std::array<std::deque<Place>, channels> under_way_;  // what is to be received
  Stopwatch watch_;
};

constexpr InProcess::Seconds longest{1e9};  // that a clock can count

}  // namespace

InProcess::InProcess(int ranks, Seconds limit) : ranks_(ranks), limit_(std::min(limit, longest)) {
  if (ranks < 1 || ranks > 1024) throw ConfigError{"InProcess: takes 1 to 1024 ranks, got " + std::to_string(ranks)};
  if (!(limit.count() > 0))
    throw ConfigError{"InProcess: the time limit must be positive, is " + std::to_string(limit.count()) + " s"};
}

void InProcess::run(std::function<void(Communicator&)> const& f) const {
  Post post{ranks_};
  std::vector<std::exception_ptr> errors(static_cast<std::size_t>(ranks_)), of_peers = errors;
  auto const work = [&](int rank) {
    auto const at = static_cast<std::size_t>(rank);
    try {
      Rank communicator{post, rank, limit_};
      f(communicator);
      post.end(rank, Post::State::returned);
    } catch (PeerError const& error) {
      of_peers[at] = std::current_exception();
      post.end(rank, Post::State::failed, error.rank);
    } catch (...) {
      errors[at] = std::current_exception();
      post.end(rank, Post::State::failed, rank);
    }
  };
  {
    std::vector<std::jthread> threads;
    threads.reserve(static_cast<std::size_t>(ranks_));
    try {
      for (int rank = 0; rank < ranks_; ++rank) threads.emplace_back(work, rank);
    } catch (...) {  // the system cannot start another thread
      for (auto rank = static_cast<int>(threads.size()); rank < ranks_; ++rank)
        post.end(rank, Post::State::failed, rank);
      throw;
    }
  }
  for (auto const& some : {errors, of_peers}) {
    for (auto const& error : some) {
      if (error) std::rethrow_exception(error);
    }
  }
}

}  // namespace coldpress::distributed
