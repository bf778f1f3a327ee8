// A line that shows how far a training is: a bar in a terminal, now and then a plain line elsewhere.
#pragma once

#include <coldpress/core/shape.hpp>

#include <cstdio>
#include <functional>
#include <limits>
#include <string>
#include <string_view>

namespace coldpress::data {

struct ProgressState {
  std::string_view label = {};                             // in front, such as "epoch 3/10"
  Index done = 0, total = 0;                               // samples; a total of 0 is not known
  Index resumed = 0;                                       // of those done, the ones of an earlier run
  double loss = std::numeric_limits<double>::quiet_NaN();  // left out while NaN
  double seconds = 0;                                      // of this run
};

/// "epoch 3/10   45%  loss 0.1234  31.2k samples/s  0:08 left", with a bar where `width` columns leave room for one;
/// a finished one says how long it took. No bar for a width of 0; never longer than another width.
std::string progress_line(ProgressState const& state, int width);

class Progress {
 public:
  using Clock = std::function<double()>;  // seconds

  /// `total` samples in all, `resumed` of them done by an earlier run. `stream` must outlive this.
  explicit Progress(std::FILE* stream, Index total, Index resumed = 0, Clock clock = {});
  Progress(Progress const&) = delete;
  ~Progress();

  /// Shows that `done` samples are done, at most ten times a second in a terminal, every five seconds elsewhere.
  void update(std::string_view label, Index done, double loss);
  /// Writes a line of its own, above the bar.
  void print(std::string_view line);
  /// Shows the last update for good. Nothing after the first call.
  void finish();

 private:
  void draw();

  std::FILE* stream_;
  Clock clock_;
  double start_, drawn_;
  bool terminal_, on_line_ = false, finished_ = false;
  std::string label_;
  ProgressState state_;
};

}  // namespace coldpress::data
