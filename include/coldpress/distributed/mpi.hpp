// Ranks that mpirun or srun has started, on one machine or on many.
#pragma once

#include <coldpress/distributed/peer_error.hpp>
#include <coldpress/run/communicator.hpp>

#include <memory>

namespace coldpress::distributed {

/// The number of processes that the launcher (mpirun, mpiexec or srun) says it has started with this one, by the
/// environment; 1 if no launcher has.
int launched_ranks();
/// The number of this process among them, from 0; 0 if no launcher says it.
int launched_rank();

/// The ranks of MPI_COMM_WORLD, in a communicator of its own. It begins MPI unless the program has done so, and then
/// also ends it. Only the thread that made it may use it.
///
/// Each call waits for the other rank for as long as the limit says, and throws PeerError if that fails or MPI reports
/// an error. The first rank whose time is up tells the others, so all stop waiting, and name the rank that does not
/// answer instead of one that waits for it. Every later call throws PeerError at once. After such an error, or if an
/// exception destroys it, MPI cannot end in order: then the program's exit ends the processes of all ranks (MPI_Abort),
/// with status 1, so that none is left waiting. Throws ConfigError for a rank that does not exist.
class Mpi final : public Communicator {
 public:
  using Seconds = std::chrono::duration<double>;
  /// Throws UnsupportedError if coldpress was built without MPI, ConfigError unless the limit is positive, and Error if
  /// MPI does not begin, as after it has ended.
  explicit Mpi(Seconds limit = usual_limit);
  Mpi(Mpi const&) = delete;
  /// Waits for all ranks, also no longer than the limit.
  ~Mpi() override;

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  void send(void const* bytes, std::size_t count, int to) override;
  void receive(void* bytes, std::size_t count, int from) override;
  void exchange(void const* sent, std::size_t sent_count, void* received, std::size_t received_count,
                int with) override;
  void begin_exchange(int channel, void const* sent, std::size_t sent_count, void* received, std::size_t received_count,
                      int with) override;
  std::size_t under_way(int channel) override;
  void wait_for(int channel, std::size_t most) override;
  TravelTime travel_time() const override;
  void give_up() noexcept override;

 private:
  struct Library;  // what needs MPI's header
  std::unique_ptr<Library> library_;
  int rank_ = 0, size_ = 1;
};

}  // namespace coldpress::distributed
