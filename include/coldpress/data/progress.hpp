// A progress display for training: a bar in a terminal, an occasional plain line elsewhere.
#pragma once

#include <coldpress/core/shape.hpp>

#include <cstdio>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace coldpress::data {

struct ProgressState {
  std::string_view label = {};                             // shown first, such as "epoch 3/10"
  Index done = 0, total = 0;                               // in samples; a total of 0 is unknown
  Index resumed = 0;                                       // how many of the samples done are from an earlier run
  double loss = std::numeric_limits<double>::quiet_NaN();  // omitted while NaN
  double seconds = 0;                                      // duration of this run
};

/// For example "epoch 3/10   45%  loss 0.1234  31.2k samples/s  0:08 left", with a bar if `width` columns leave room
/// for one. At the end it says how long the training took. With a width of 0 there is no bar; otherwise the line is
/// never longer than `width`.
std::string progress_line(ProgressState const& state, int width);

class Progress {
 public:
  using Clock = std::function<double()>;  // returns seconds

  /// `total` is the number of samples in all, and `resumed` how many of them an earlier run has done. `stream` must
  /// outlive this.
  explicit Progress(std::FILE* stream, Index total, Index resumed = 0, Clock clock = {});
  Progress(Progress const&) = delete;
  ~Progress();

  /// Shows that `done` samples are done, at most every 0.1 s in a terminal and every 5 s elsewhere.
  void update(std::string_view label, Index done, double loss);
  /// In a terminal, these lines are drawn above the bar, each time that it is drawn. They get the terminal's width, and
  /// must fit into it.
  void show_above(std::function<std::vector<std::string>(int width)> lines) { above_ = std::move(lines); }
  /// Writes a line of its own, above everything else.
  void print(std::string_view line);
  /// Shows the last update permanently. Calls after the first do nothing.
  void finish();

 private:
  void draw();
  void go_up();

  std::FILE* stream_;
  Clock clock_;
  double start_, drawn_;
  bool terminal_, on_line_ = false, finished_ = false;
  std::size_t lines_above_ = 0;  // as drawn last
  std::function<std::vector<std::string>(int)> above_ = {};
  std::string label_;
  ProgressState state_;
};

}  // namespace coldpress::data
