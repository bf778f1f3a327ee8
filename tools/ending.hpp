// How a training ends: by what is to be saved even if something fails, and when the process is asked to end.
#pragma once

#include "interruption.hpp"
#include "ranks.hpp"

#include <coldpress/train/snapshot.hpp>

#include <exception>
#include <string>

namespace coldpress::command {

/// Tries each action even if others fail, and then throws the first error.
class Attempts {
 public:
  void operator()(auto const& action) {
    try {
      action();
    } catch (...) {
      if (!failure_) failure_ = std::current_exception();
    }
  }
  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  std::exception_ptr failure_;
};

/// Ends the run when the process, or another rank, is asked to end, after a last checkpoint. If stdout is no longer
/// read, the training also ends, but only if there is a checkpoint to continue from.
void listen(train::Trainer& trainer, Ranks const& ranks, std::string const& checkpoint, train::Snapshot* snapshot,
            auto finish) {
  Interruption::listen();
  trainer.every(train::steps(1), [&ranks, &checkpoint, snapshot, finish](train::Trainer& now) {
    bool const unread = Interruption::unread() && snapshot;
    if (!ranks.any(Interruption::asked() || unread)) return;
    if (ranks.communicator()) now.solver().gather_state(false);
    finish(false);
    ranks.wait();  // for rank 0, which writes
    throw Error{
        "interrupted after step " + std::to_string(now.iteration()) +
        (unread ? ", since nobody reads the output" : "") +
        (snapshot ? "; continue with --resume " + checkpoint : "; without --checkpoint it cannot be continued")};
  });
}

}  // namespace coldpress::command
