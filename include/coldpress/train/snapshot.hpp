// Callbacks that save what a training has reached.
#pragma once

#include <coldpress/train/validation.hpp>

#include <deque>

namespace coldpress::train {

/// Writes a checkpoint, atomically, from which resume continues. `path` may contain {iteration} and {epoch}, the
/// number of epochs that are done; then each snapshot has a file of its own, and with `keep` above 0 only the last
/// ones remain. Files of an earlier run are not removed. A second call at the same step writes nothing. Throws
/// FileError, ConfigError.
class Snapshot {
 public:
  explicit Snapshot(std::string path, Index keep = 0);
  void operator()(Trainer& trainer);
  /// The file of the last one, empty before the first.
  std::string const& last() const { return last_; }
  static constexpr bool saves = true, at_end = true, reads_state = true;

  /// Completes a checkpoint with what the trainer does not know, such as the name of the data.
  std::function<void(persist::Checkpoint&)> complete = {};

 private:
  std::string path_, last_;
  Index keep_;
  std::optional<std::uint64_t> written_;  // the step of the last one
  std::deque<std::string> files_;
};

/// Writes the network, atomically, whenever the metric has its best value so far.
class SaveBest {
 public:
  explicit SaveBest(std::string path, Metric metric = {});
  void operator()(Trainer& trainer);
  Best const& best() const { return best_; }

  /// Writes the network to the path, atomically. Another function may give it another form.
  std::function<void(std::string const& path, persist::Model const& model)> write = persist::write_model;

  static constexpr std::string_view name = "save_best";
  State state() const;
  void restore(State const& state);

 private:
  std::string path_;
  Best best_;
};

}  // namespace coldpress::train
