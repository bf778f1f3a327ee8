// Sends and receives by MPI, in the background too, and tells the other ranks when one gives up.
#include <coldpress/distributed/mpi.hpp>

#include "peers.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <deque>
#include <exception>
#include <map>
#include <string>
#include <thread>

#define MPICH_SKIP_MPICXX 1
#define OMPI_SKIP_MPICXX 1
#include <mpi.h>

namespace coldpress::distributed {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t most_at_once = std::size_t{1} << 30;  // bytes, because MPI counts in int
constexpr std::chrono::seconds for_notes{1};
// A note is what a rank that gives up sends to all: the number of the rank that it has waited for.
// Channels in the background come first.
enum Tag { messages = Communicator::channels, notes };

std::string text_of(int code) {
  char text[MPI_MAX_ERROR_STRING + 1] = {};
  int length = 0;
  MPI_Error_string(code, text, &length);
  return text;
}

bool has_ended() {
  int ended = 0;
  MPI_Finalized(&ended);
  return ended != 0;
}

/// What the program's exit does when MPI cannot end in order.
void end_all() {
  if (!has_ended()) MPI_Abort(MPI_COMM_WORLD, 1);
}

}  // namespace

struct Mpi::Library {
  struct Exchange {
    int with;
    std::size_t expected;
    MPI_Request sending = MPI_REQUEST_NULL, receiving = MPI_REQUEST_NULL;
  };
  MPI_Comm ranks = MPI_COMM_NULL;
  Seconds limit;
  int rank = 0, size = 1;
  int exceptions = std::uncaught_exceptions();
  bool begun_here = false, failed = false;
  int note = 0;                                                // that this rank has sent
  std::map<int, int> waits{};                                  // whom another rank waits for, by its note
  std::array<std::deque<Exchange>, messages + 1> under_way{};  // by tag
  Stopwatch watch{};

  explicit Library(Seconds given) : limit(given) {}

  void begin() {
    if (has_ended()) throw Error{"MPI has ended in this process, and cannot begin again"};
    int begun = 0;
    check(MPI_Initialized(&begun));
    if (!begun) {
      int provided = 0;
      check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided));
      begun_here = true;
    }
    check(MPI_Comm_dup(MPI_COMM_WORLD, &ranks));
    check(MPI_Comm_set_errhandler(ranks, MPI_ERRORS_RETURN));
    check(MPI_Comm_rank(ranks, &rank));
    check(MPI_Comm_size(ranks, &size));
  }
  static void check(int code) {
    if (code != MPI_SUCCESS) throw Error{"MPI: " + text_of(code)};
  }
  void check_usable(int peer) const {
    check_peer(peer, rank, size);
    if (failed) throw lost_before(peer, rank);
  }
  /// From now on, nothing may be written to the memory of those who called.
  void lose() {
    failed = true;
    for (auto& channel : under_way) {
      for (Exchange& exchange : channel) {
        if (exchange.receiving != MPI_REQUEST_NULL) MPI_Cancel(&exchange.receiving);
      }
    }
  }
  [[noreturn]] void fail(int peer, std::string const& how) {
    lose();
    throw PeerError{"rank " + std::to_string(peer) + " " + how + " (seen by rank " + std::to_string(rank) + ")", peer};
  }
  void check(int code, int peer) {
    if (code != MPI_SUCCESS) fail(peer, "cannot be reached: " + text_of(code));
  }

  /// Takes the notes that have come.
  void read_notes() {
    for (;;) {
      int come = 0, whom = 0;
      MPI_Status status{};
      if (MPI_Iprobe(MPI_ANY_SOURCE, notes, ranks, &come, &status) != MPI_SUCCESS || !come) return;
      if (MPI_Recv(&whom, 1, MPI_INT, status.MPI_SOURCE, notes, ranks, MPI_STATUS_IGNORE) != MPI_SUCCESS) return;
      waits[status.MPI_SOURCE] = whom;
    }
  }
  /// Gives up, and tells all ranks for whom this one has waited: for itself if it has failed.
  void give_up(int whom) {
    lose();
    note = whom;
    for (int other = 0; other < size; ++other) {
      if (other == rank) continue;
      MPI_Request request = MPI_REQUEST_NULL;  // nobody waits for its end
      if (MPI_Isend(&note, 1, MPI_INT, other, notes, ranks, &request) == MPI_SUCCESS) MPI_Request_free(&request);
    }
  }
  /// The same after a silence; hears for a moment for whom the others wait, and throws.
  [[noreturn]] void give_up(int peer, bool long_enough, std::string const& how) {
    give_up(peer);
    auto const end = Clock::now() + for_notes;
    while (static_cast<int>(waits.size()) < size - 2 && Clock::now() < end) {
      read_notes();
      std::this_thread::sleep_for(std::chrono::milliseconds{1});
    }
    throw silence(rank, peer, long_enough, how, waits);
  }
  void start(int tag, void const* sent, std::size_t sent_count, void* received, std::size_t received_count, int with) {
    Exchange& exchange = under_way.at(static_cast<std::size_t>(tag)).emplace_back(Exchange{with, received_count});
    if (received_count > 0)
      check(MPI_Irecv(received, static_cast<int>(received_count), MPI_BYTE, with, tag, ranks, &exchange.receiving),
            with);
    if (sent_count > 0)
      check(MPI_Isend(sent, static_cast<int>(sent_count), MPI_BYTE, with, tag, ranks, &exchange.sending), with);
  }
  /// Whether what is sent to the peer and what is received from it has arrived.
  bool is_over(Exchange& exchange) {
    int sent = 0, received = 0, count = 0, kind = MPI_SUCCESS;
    MPI_Status status{};
    check(MPI_Test(&exchange.sending, &sent, MPI_STATUS_IGNORE), exchange.with);
    bool const receives = exchange.receiving != MPI_REQUEST_NULL;
    int const code = MPI_Test(&exchange.receiving, &received, receives ? &status : MPI_STATUS_IGNORE);
    if (code != MPI_SUCCESS && MPI_Error_class(code, &kind) == MPI_SUCCESS && kind == MPI_ERR_TRUNCATE)
      fail(exchange.with, "has sent more than " + std::to_string(exchange.expected) + " bytes, which were expected");
    check(code, exchange.with);
    if (receives && received) {
      check(MPI_Get_count(&status, MPI_BYTE, &count), exchange.with);
      if (static_cast<std::size_t>(count) != exchange.expected)
        fail(exchange.with,
             "has sent " + std::to_string(count) + " bytes, expected " + std::to_string(exchange.expected));
    }
    return sent && received;
  }
  /// Forgets what is over, up to the first exchange that is not. Returns how many are left.
  std::size_t advance(int tag) {
    auto& all = under_way.at(static_cast<std::size_t>(tag));
    if (!all.empty()) check_usable(all.front().with);
    while (!all.empty() && is_over(all.front())) all.pop_front();
    return all.size();
  }
  /// Whether anything is under way in the background.
  bool advance_all() {
    bool any = false;
    for (int channel = 0; channel < channels; ++channel) any = advance(channel) > 0 || any;
    return any;
  }
  void wait_for(int tag, std::size_t most) {
    watch.enter();
    watch.leave(advance_all());
    watch.enter();
    while (advance(tag) > most) wait(under_way.at(static_cast<std::size_t>(tag)).front());
    watch.leave(advance_all());
  }
  /// Waits until an exchange is over. A rank that computes on the same core gets it meanwhile.
  void wait(Exchange& exchange) {
    Clock::time_point start{};
    for (int tries = 0;; ++tries) {
      if (is_over(exchange)) return;
      if (tries < 100) continue;
      auto const now = Clock::now();
      if (tries == 100) start = now;
      if (now - start < std::chrono::milliseconds{1}) {
        std::this_thread::yield();
        continue;
      }
      std::this_thread::sleep_for(std::chrono::microseconds{50});
      if (waits.empty()) read_notes();
      Seconds const waited = now - start;
      if (waited > limit || !waits.empty()) {
        bool const received = exchange.receiving == MPI_REQUEST_NULL;
        // Ranks that wait for each other give up at nearly the same time, and each hears of another before.
        give_up(exchange.with, waited > limit / 2,
                std::string{received ? "has received" : "has sent"} + " nothing for " +
                    std::to_string(std::min(waited, limit).count()) + " s");
      }
    }
  }
};

Mpi::Mpi(Seconds limit) : library_(std::make_unique<Library>(limit)) {
  if (!(limit.count() > 0))
    throw ConfigError{"Mpi: the time limit must be positive, is " + std::to_string(limit.count()) + " s"};
  library_->begin();
  rank_ = library_->rank, size_ = library_->size;
}

Mpi::~Mpi() {
  Library& library = *library_;
  if (!library.failed && std::uncaught_exceptions() <= library.exceptions) {
    try {
      barrier();  // MPI_Finalize would wait without a limit
      MPI_Comm_free(&library.ranks);
      if (library.begun_here) MPI_Finalize();
      return;
    } catch (PeerError const&) {
    }
  }
  std::atexit(end_all);  // only then, so that the program can say first what has happened
}

void Mpi::send(void const* bytes, std::size_t count, int to) { exchange(bytes, count, nullptr, 0, to); }
void Mpi::receive(void* bytes, std::size_t count, int from) { exchange(nullptr, 0, bytes, count, from); }

void Mpi::exchange(void const* sent, std::size_t sent_count, void* received, std::size_t received_count, int with) {
  Library& library = *library_;
  library.check_usable(with);
  auto const* out = static_cast<unsigned char const*>(sent);
  auto* in = static_cast<unsigned char*>(received);
  while (sent_count > 0 || received_count > 0) {
    std::size_t const some = std::min(sent_count, most_at_once), expected = std::min(received_count, most_at_once);
    library.start(messages, out, some, in, expected, with);
    library.wait_for(messages, 0);
    if (some > 0) out += some, sent_count -= some;
    if (expected > 0) in += expected, received_count -= expected;
  }
}

void Mpi::begin_exchange(int channel, void const* sent, std::size_t sent_count, void* received,
                         std::size_t received_count, int with) {
  Library& library = *library_;
  library.check_usable(with);
  if (std::max(sent_count, received_count) > most_at_once)
    throw ConfigError{"Mpi: an exchange in the background may have " + std::to_string(most_at_once) +
                      " bytes each way, got " + std::to_string(std::max(sent_count, received_count))};
  library.watch.enter();
  bool const still = library.advance_all();
  library.start(channel, sent, sent_count, received, received_count, with);
  library.watch.leave(still, true);
}
std::size_t Mpi::under_way(int channel) {
  library_->watch.enter();
  library_->watch.leave(library_->advance_all());
  return library_->under_way.at(static_cast<std::size_t>(channel)).size();
}
void Mpi::wait_for(int channel, std::size_t most) { library_->wait_for(channel, most); }
TravelTime Mpi::travel_time() const { return library_->watch.time(); }
void Mpi::give_up() noexcept {
  if (!library_->failed) library_->give_up(rank_);
}

}  // namespace coldpress::distributed
