// A callback that shows a training on one page for a browser.
#pragma once

#include <coldpress/data/chart.hpp>
#include <coldpress/train/layer_times.hpp>
#include <coldpress/train/trainer.hpp>

namespace coldpress::train {

/// A section of the report with charts that are made when it is written; without charts it is left out.
struct ReportCharts {
  std::string title;
  std::function<std::vector<data::Chart>()> charts;
};

struct HtmlReportOptions {
  std::string title = "Training";
  std::string configuration = {};            // text that is shown as it is, such as that of a training file
  data::Source const* validation = nullptr;  // borrowed; without it there is no confusion matrix and no worst sample
  Index worst = 24;                          // how many samples with the highest losses are shown
  bool layer_times = true;                   // measured in the first call: see group_times
  std::vector<ReportCharts> charts = {};     // sections of their own, below the curves
};

/// Writes, whenever it is called and at the end, one HTML file that needs nothing else and asks no network: curves of
/// all statistics, charts of your own, the layers (parameters, FLOPs, times, norms of weights and of their last
/// change), the plan of the memory as a drawing, and, of the validation data, the confusion matrix, if the targets are
/// labels, and the samples with the highest loss, as pictures if their shape is {H, W}, {1, H, W} or {3, H, W}. The
/// file is replaced atomically.
///
/// Each call evaluates the network on the validation data. Throws FileError, when a run begins if this is known by
/// then, and what Trainer::evaluate throws.
class HtmlReport {
 public:
  explicit HtmlReport(std::string path, HtmlReportOptions options = {});
  void begin(Trainer& trainer);
  void operator()(Trainer& trainer);

  static constexpr bool reports = true;  // the others of the step add their statistics before
  static constexpr bool at_end = true;

 private:
  /// The norm of a weight, and that of its change between two calls.
  struct Norms {
    double weight = 0, change = 0;
  };
  void measure(AnySolver const& solver);

  std::string path_;
  HtmlReportOptions options_;
  std::vector<std::vector<float>> before_ = {}, weights_ = {};
  std::vector<Norms> norms_ = {};
  std::vector<std::optional<GroupTime>> times_ = {};
  std::uint64_t iteration_ = 0, steps_ = 0;  // of the last change; how many steps made it
};

}  // namespace coldpress::train
