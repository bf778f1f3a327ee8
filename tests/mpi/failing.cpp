// Started by mpirun with what goes wrong. The ranks say which rank it was, and no process is left.
#include <coldpress/distributed/mpi.hpp>

#include <array>
#include <cstdio>
#include <stdexcept>
#include <string_view>
#include <thread>

using namespace coldpress;
using namespace coldpress::distributed;

namespace {

void sleep_for_ever() { std::this_thread::sleep_for(std::chrono::hours{1}); }

/// Rank 1 does not answer.
void hang(Mpi& mpi) {
  if (mpi.rank() == 1) sleep_for_ever();
  int number = 0;
  mpi.receive(&number, sizeof number, 1);
}

/// Rank 1 does not answer what rank 0 has begun in the background.
void background(Mpi& mpi) {
  if (mpi.rank() == 1) sleep_for_ever();
  int number = 0, received = 0;
  mpi.begin_exchange(1, &number, sizeof number, &received, sizeof received, 1);
  if (mpi.under_way(1) != 1) throw std::runtime_error{"an exchange is over that rank 1 has not begun"};
  mpi.wait_for(1, 0);
}

/// Rank 1 gives up in the middle of what it has begun.
void give_up(Mpi& mpi) {
  int number = 0, received = 0;
  mpi.begin_exchange(1, &number, sizeof number, &received, sizeof received, 1 - mpi.rank());
  if (mpi.rank() == 1) {
    mpi.give_up();
    sleep_for_ever();
  }
  mpi.wait_for(1, 0);
  mpi.receive(&number, sizeof number, 1);
}

/// Rank 2 does not answer rank 1, for which rank 0 waits.
void chain(Mpi& mpi) {
  if (mpi.rank() == 2) sleep_for_ever();
  int number = 0;
  mpi.receive(&number, sizeof number, mpi.rank() + 1);
}

/// Rank 1 fails by itself.
void fail(Mpi& mpi) {
  if (mpi.rank() == 1) throw std::runtime_error{"rank 1 has failed by itself"};
  int number = 0;
  mpi.receive(&number, sizeof number, 1);
}

/// Rank 1 sends other numbers of bytes than rank 0 expects, and what comes later is not taken for them.
void sizes(Mpi& mpi) {
  std::array<char, 8> bytes{};
  if (mpi.rank() == 1) {
    mpi.send(bytes.data(), 8, 0);
    mpi.send(bytes.data(), 4, 0);
    sleep_for_ever();
  }
  for (int tries = 0; tries < 2; ++tries) {
    try {
      mpi.receive(bytes.data(), 4, 1);
    } catch (PeerError const& error) {
      std::printf("%s\n", error.what());
      if (tries == 1) throw;
    }
  }
}

/// Asks for ranks that there are not.
void strangers(Mpi& mpi) {
  for (int const other : {-1, mpi.size(), mpi.rank()}) {
    try {
      mpi.send("", 1, other);
      throw std::runtime_error{"a stranger is not refused"};
    } catch (ConfigError const& error) {
      if (mpi.rank() == 0) std::printf("%s\n", error.what());
    }
  }
  mpi.barrier();
}

/// MPI is used again after it has ended.
void end_twice() {
  { Mpi const first; }
  Mpi const second;
}

}  // namespace

int main(int, char** argv) {
  std::string_view const what = argv[1];
  try {
    if (what == "end_twice") end_twice();
    Mpi mpi{std::chrono::milliseconds{what == "throw" ? 60000 : 500}};
    mpi.barrier();
    if (what == "hang") hang(mpi);
    if (what == "background") background(mpi);
    if (what == "give_up") give_up(mpi);
    if (what == "chain") chain(mpi);
    if (what == "throw") fail(mpi);
    if (what == "sizes") sizes(mpi);
    if (what == "strangers") strangers(mpi);
  } catch (PeerError const& error) {
    std::printf("PeerError of rank %d: %s\n", error.rank, error.what());
    return 3;
  } catch (std::exception const& error) {
    std::printf("%s\n", error.what());
    return 4;
  }
}
