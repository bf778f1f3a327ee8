#include <coldpress/distributed/mpi.hpp>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <string>
#include <thread>

#define MPICH_SKIP_MPICXX 1
#define OMPI_SKIP_MPICXX 1
#include <mpi.h>

namespace coldpress::distributed {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t most_at_once = std::size_t{1} << 30;  // bytes, because MPI counts in int
constexpr int tag = 0;

std::string text_of(int code) {
  char text[MPI_MAX_ERROR_STRING + 1] = {};
  int length = 0;
  MPI_Error_string(code, text, &length);
  return text;
}

/// What the program's exit does when MPI cannot end in order.
void end_all() { MPI_Abort(MPI_COMM_WORLD, 1); }

}  // namespace

struct Mpi::Library {
  MPI_Comm ranks = MPI_COMM_NULL;
  Seconds limit;
  int rank = 0;
  int exceptions = std::uncaught_exceptions();
  bool begun_here = false, failed = false;

  explicit Library(Seconds given) : limit(given) {}

  void begin() {
    int begun = 0;
    check(MPI_Initialized(&begun));
    if (!begun) {
      int provided = 0;
      check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided));
      begun_here = true;
    }
    check(MPI_Comm_dup(MPI_COMM_WORLD, &ranks));
    check(MPI_Comm_set_errhandler(ranks, MPI_ERRORS_RETURN));
  }
  static void check(int code) {
    if (code != MPI_SUCCESS) throw Error{"MPI: " + text_of(code)};
  }
  [[noreturn]] void fail(int peer, std::string const& how) {
    failed = true;
    throw PeerError{"rank " + std::to_string(peer) + " " + how + " (seen by rank " + std::to_string(rank) + ")", peer};
  }
  void check(int code, int peer) {
    if (code != MPI_SUCCESS) fail(peer, "cannot be reached: " + text_of(code));
  }
  /// Waits for a message to or from the peer. Another rank that computes on the same core gets it meanwhile.
  MPI_Status wait(MPI_Request& request, int peer, char const* does_not) {
    MPI_Status status{};
    Clock::time_point start{};
    for (int tries = 0;; ++tries) {
      int done = 0;
      check(MPI_Test(&request, &done, &status), peer);
      if (done) return status;
      if (tries < 100) continue;
      auto const now = Clock::now();
      if (tries == 100) start = now;
      if (now - start > limit) {
        MPI_Cancel(&request);
        fail(peer, std::string{does_not} + " for " + std::to_string(limit.count()) + " s");
      }
      now - start < std::chrono::milliseconds{1} ? std::this_thread::yield()
                                                 : std::this_thread::sleep_for(std::chrono::microseconds{50});
    }
  }
};

Mpi::Mpi(Seconds limit) : library_(std::make_unique<Library>(limit)) {
  if (!(limit.count() > 0))
    throw ConfigError{"Mpi: the time limit must be positive, is " + std::to_string(limit.count()) + " s"};
  library_->begin();
  Library::check(MPI_Comm_rank(library_->ranks, &rank_));
  Library::check(MPI_Comm_size(library_->ranks, &size_));
  library_->rank = rank_;
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

void Mpi::send(void const* bytes, std::size_t count, int to) {
  auto const* at = static_cast<unsigned char const*>(bytes);
  for (std::size_t left = count; left > 0;) {
    std::size_t const some = std::min(left, most_at_once);
    MPI_Request request = MPI_REQUEST_NULL;
    library_->check(MPI_Isend(at, static_cast<int>(some), MPI_BYTE, to, tag, library_->ranks, &request), to);
    library_->wait(request, to, "has received nothing");
    at += some, left -= some;
  }
}

void Mpi::receive(void* bytes, std::size_t count, int from) {
  auto* at = static_cast<unsigned char*>(bytes);
  for (std::size_t left = count; left > 0;) {
    std::size_t const some = std::min(left, most_at_once);
    MPI_Request request = MPI_REQUEST_NULL;
    library_->check(MPI_Irecv(at, static_cast<int>(some), MPI_BYTE, from, tag, library_->ranks, &request), from);
    MPI_Status const status = library_->wait(request, from, "has sent nothing");
    int received = 0;
    library_->check(MPI_Get_count(&status, MPI_BYTE, &received), from);
    if (static_cast<std::size_t>(received) != some)
      library_->fail(from, "has sent " + std::to_string(received) + " bytes, expected " + std::to_string(some));
    at += some, left -= some;
  }
}

}  // namespace coldpress::distributed
