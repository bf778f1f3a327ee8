// Starts MPI if the launcher has started several processes, and lets rank 0 speak for all of them.
#include "ranks.hpp"

#include <algorithm>
#include <cstdio>
#include <new>
#include <string>
#include <thread>
#include <vector>

namespace coldpress::command {

Ranks::Ranks(double limit) {
  int const launched = distributed::launched_ranks();
  if (launched < 2) return;
  try {
    mpi_ = std::make_unique<distributed::Mpi>(distributed::Mpi::Seconds{limit});
  } catch (UnsupportedError const& error) {
    throw UnsupportedError{"the launcher has started " + std::to_string(launched) + " processes, but " +
                           error.sentence()};
  }
  // A launcher of another MPI starts processes that do not know each other.
  if (mpi_->size() == 1)
    throw UnsupportedError{
        "the launcher has started " + std::to_string(launched) +
        " processes, but MPI knows of one alone; start them with the mpirun of the MPI that coldpress "
        "was built with"};
  if (!leads() && !std::freopen("/dev/null", "w", stdout)) throw FileError{"/dev/null cannot be opened"};
}

bool Ranks::any(bool says) const {
  if (!mpi_) return says;
  std::vector<unsigned char> all(static_cast<std::size_t>(mpi_->size()));
  all[static_cast<std::size_t>(mpi_->rank())] = says;
  mpi_->share(all.data(), [](int rank) { return static_cast<std::size_t>(rank); });
  return std::ranges::find(all, 1) != all.end();
}

void Ranks::wait() const {
  if (mpi_) mpi_->barrier();
}

void Ranks::complain(std::exception const& error) const {
  let_rank_0_speak();
  bool const memory = dynamic_cast<std::bad_alloc const*>(&error) != nullptr;
  throw Error{"rank " + std::to_string(mpi_->rank()) + ": " + (memory ? "there is not enough memory" : error.what())};
}

void let_rank_0_speak() { std::this_thread::sleep_for(std::chrono::seconds{3}); }

void check_alone(char const* command) {
  int const launched = distributed::launched_ranks();
  if (launched > 1)
    throw UnsupportedError{std::string{command} + " runs as one process, but the launcher has started " +
                           std::to_string(launched)};
}

}  // namespace coldpress::command
