// The processes that mpirun or srun has started for one training.
#pragma once

#include <coldpress/distributed/mpi.hpp>

#include <exception>
#include <memory>

namespace coldpress::command {

/// All ranks have the same options, read the same files and decide the same; rank 0 alone writes and prints. Without a
/// launcher, this process is rank 0 of one.
class Ranks {
 public:
  Ranks() = default;  // this process alone
  /// On other ranks than 0, what is printed to stdout from now on is dropped. Throws UnsupportedError if this coldpress
  /// was built without MPI but is one of several processes, which would write the same files.
  explicit Ranks(double limit);

  Communicator* communicator() const { return mpi_.get(); }  // null without a launcher
  int size() const { return mpi_ ? mpi_->size() : 1; }
  bool leads() const { return !mpi_ || mpi_->rank() == 0; }
  /// Whether `says` is true on one of the ranks. All must call it.
  bool any(bool says) const;
  /// Returns when all ranks are here.
  void wait() const;
  /// Runs the training. An error that all ranks have is said by rank 0, which then ends them all; one that only another
  /// rank has is said by that, some seconds later.
  void run(auto const& training) const {
    if (leads()) return training();
    try {
      training();
    } catch (std::exception const& error) {
      complain(error);
    }
  }

 private:
  [[noreturn]] void complain(std::exception const& error) const;
  std::unique_ptr<distributed::Mpi> mpi_;
};

/// Throws UnsupportedError if a launcher has started several processes of a command that runs as one.
void check_alone(char const* command);
/// Called by a rank other than 0 before it prints an error: waits some seconds. If all ranks have the same error, rank
/// 0 prints it meanwhile, and ends them.
void let_rank_0_speak();

}  // namespace coldpress::command
