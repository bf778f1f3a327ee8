// Ranks that mpirun or srun has started, on one machine or on many.
#pragma once

#include <coldpress/distributed/peer_error.hpp>
#include <coldpress/run/communicator.hpp>

#include <memory>

namespace coldpress::distributed {

/// The number of processes that the launcher (mpirun, mpiexec or srun) says it has started with this one, by the
/// environment; 1 if no launcher has.
int launched_ranks();

/// The ranks of MPI_COMM_WORLD, in a communicator of its own. It begins MPI unless the program has done so, and then
/// also ends it. Only the thread that made it may use it.
///
/// Each call waits for the other rank for as long as the limit says, and throws PeerError if that fails or MPI reports
/// an error. After that, or if an exception destroys it, MPI cannot end in order: then the program's exit ends the
/// processes of all ranks (MPI_Abort), with status 1, so that none is left waiting.
class Mpi final : public Communicator {
 public:
  using Seconds = std::chrono::duration<double>;
  /// Throws UnsupportedError if coldpress was built without MPI, ConfigError unless the limit is positive, and Error if
  /// MPI does not begin.
  explicit Mpi(Seconds limit = usual_limit);
  Mpi(Mpi const&) = delete;
  /// Waits for all ranks, also no longer than the limit.
  ~Mpi() override;

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  void send(void const* bytes, std::size_t count, int to) override;
  void receive(void* bytes, std::size_t count, int from) override;

 private:
  struct Library;  // what needs MPI's header
  std::unique_ptr<Library> library_;
  int rank_ = 0, size_ = 1;
};

}  // namespace coldpress::distributed
