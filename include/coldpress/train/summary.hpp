// A callback that writes a line about the course of a training.
#pragma once

#include <coldpress/train/trainer.hpp>

namespace coldpress::train {

/// Mocha's TrainingSummary: writes one line, such as "step 1200  epoch 2.56  training/loss 0.1234  learning_rate 0.01",
/// with the last values of the statistics of these names, or of all if there are no names; "-" stands for one that has
/// no value yet.
class Summary {
 public:
  /// `write` gets each line, without its end; by default it is written to the standard output.
  explicit Summary(std::vector<std::string> names = {}, std::function<void(std::string_view)> write = {});
  void operator()(Trainer& trainer);

 private:
  std::vector<std::string> names_;
  std::function<void(std::string_view)> write_;
};

}  // namespace coldpress::train
