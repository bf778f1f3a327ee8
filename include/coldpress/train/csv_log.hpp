// A callback that keeps all statistics of a training in a CSV file.
#pragma once

#include <coldpress/train/trainer.hpp>

namespace coldpress::train {

/// Writes a row for each iteration that has a statistic: iteration, epoch (epochs done, with the fraction of the
/// current one), seconds (spent in training steps until the row was written) and then the statistics in the order in
/// which they began; where one has no value, the field is empty.
///
/// New rows are appended. The whole file is replaced, atomically, by the first call of a run, by the last one, and
/// whenever a statistic begins or gets a value for a row that is already written. So after resume the file is that of a
/// run that was never interrupted, whatever had become of it. A run that is killed leaves at most its last row
/// incomplete. Throws FileError, when a run begins if this is known by then.
class CsvLog {
 public:
  explicit CsvLog(std::string path);
  void begin(Trainer& trainer);
  void operator()(Trainer& trainer);
  State state() const;
  void restore(State const& state);

  std::string name = "csv_log";
  static constexpr bool reports = true;  // the others of the step add their statistics before
  static constexpr bool at_end = true;

 private:
  struct Call {
    std::uint64_t iteration;
    double seconds;
  };
  std::string rows(Trainer const& trainer, std::uint64_t after) const;

  std::string path_;
  std::vector<Call> calls_ = {};
  double earlier_ = 0;                   // seconds of runs before those of the trainer
  std::uint64_t last_ = 0;               // the iteration of the last row in the file
  std::size_t columns_ = 0, count_ = 0;  // the statistics in the file, and their values
  bool resumed_ = false, complete_ = false;
};

}  // namespace coldpress::train
