// A chart of a training in the terminal.
#pragma once

#include <coldpress/data/progress.hpp>
#include <coldpress/train/trainer.hpp>

namespace coldpress::train {

struct LiveChart {
  std::vector<std::string> statistics = {"training/loss", "validation/loss"};  // at most 6 are drawn
  int height = 8;                                                              // in lines, without the line of names
  bool colours = true;
};
/// The lines of a chart of braille characters, at most `width` columns wide; none if there are no two values yet, or no
/// room. Values are drawn by iteration, on a logarithmic scale if all are above 0 and the largest is more than 20 times
/// the smallest. The last line has the names and the last values.
std::vector<std::string> live_chart(Statistics const& statistics, LiveChart const& chart, int width);

/// What a progress line says of the epoch: "epoch 3/10".
std::string epoch_label(Trainer const& trainer);

/// Whether the locale's characters are UTF-8, and whether the environment has no NO_COLOR.
bool can_show_chart();
bool can_show_colours();

/// Shows the chart above a progress line (data::Progress), at most ten times a second: trainer.every(steps(1),
/// LiveView{}). If the stream is no terminal, there are only the progress line's plain lines, and no chart if the
/// locale's characters are not UTF-8; no colours if the environment has NO_COLOR. The cursor rests below the chart and
/// no mode of the terminal is changed, so there is nothing to restore, whichever way the program ends.
class LiveView {
 public:
  explicit LiveView(LiveChart chart = {}, std::FILE* stream = stdout);
  void begin(Trainer& trainer);
  void operator()(Trainer& trainer);
  /// Writes a line above the chart; a Summary or another callback that writes to the same terminal uses this.
  void print(std::string_view line);

  static constexpr bool at_end = true;

 private:
  LiveChart chart_;
  std::FILE* stream_;
  std::unique_ptr<data::Progress> progress_ = {};
};

}  // namespace coldpress::train
