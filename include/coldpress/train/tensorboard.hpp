// A callback that writes event files for TensorBoard.
#pragma once

#include <coldpress/train/trainer.hpp>

namespace coldpress::train {

struct TensorBoardOptions {
  bool histograms = true;  // of weights and of their changes; takes memory for two copies of the weights
  bool gradients = true;   // and of gradients, for which each call computes a step's passes again, in memory of its own
  data::Source const* pictures = nullptr;  // borrowed; its first samples are shown if they are pictures
  Index picture_count = 8;
};

/// Writes, whenever it is called, into a folder that `tensorboard --logdir` shows:
///   scalars     the values of all statistics since the last call
///   histograms  weights/NAME; updates/NAME: the change of the weight since the last call, or since the run began; and
///               gradients/NAME: the gradient at these weights of the mean loss of the last minibatch
///   images      samples/NUMBER, once: samples of shape {H, W}, {1, H, W} or {3, H, W}
///   text        network, once: the plan as a table, as describe() gives it
/// Each run of a program writes a file of its own and appends to it; a run that is killed leaves a file that is
/// readable up to its last event. After resume, the first event makes TensorBoard drop what an earlier run has written
/// beyond the checkpoint. Throws FileError, when a run begins if this is known by then, and FormatError in restore.
class TensorBoard {
 public:
  explicit TensorBoard(std::string directory, TensorBoardOptions options = {});
  void begin(Trainer& trainer);
  void operator()(Trainer& trainer);
  State state() const;
  void restore(State const& state);
  /// The file that is being written; empty before the first run.
  std::string const& file() const { return file_; }

  std::string name = "tensorboard";
  static constexpr bool reports = true;      // the others of the step add their statistics before
  static constexpr bool reads_batch = true;  // for the gradients
  static constexpr bool at_end = true;

 private:
  using Weights = std::vector<std::vector<float>>;
  std::string scalars(Trainer const& trainer, std::vector<std::size_t>& written) const;
  std::string histograms(Trainer& trainer);
  std::string pictures() const;
  void start_file(Trainer& trainer);

  std::string directory_;
  TensorBoardOptions options_;
  std::string file_ = {};
  std::vector<std::size_t> written_ = {};  // how many values of each statistic are in files
  std::uint64_t iteration_ = 0;            // of the last call
  Weights before_ = {}, weights_ = {};     // those of the last call, and the current ones
  Weights gradients_ = {};
  std::vector<float> changes_ = {};      // of one weight
  std::vector<std::string> names_ = {};  // of the weights
};

}  // namespace coldpress::train
