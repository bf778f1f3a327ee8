// Measures how far predictions are from their targets, like Juice's RegressionEvaluator.
#pragma once

#include <coldpress/evaluators/window.hpp>

#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <string>

namespace coldpress {

class RegressionEvaluator {
 public:
  struct Sample {
    float predicted, actual;
  };

  /// The metric is "mse", "mae" or "r2", by default "mse" as in Juice. Throws ConfigError for any other.
  explicit RegressionEvaluator(std::string metric = "mse") : metric_(std::move(metric)) {
    if (metric_ == "mse" || metric_ == "mae" || metric_ == "r2") return;
    ConfigError error{"there is no metric '" + metric_ + "'; there are mse, mae and r2"};
    error.in_field("metric");
    throw error;
  }
  /// Only the last `capacity` samples count, or all of them if it is not set.
  void set_capacity(std::optional<Index> capacity) { window_.set_capacity(capacity); }

  /// Throws ShapeError unless there are as many predictions as targets; then no sample is added.
  void add_samples(std::span<float const> predictions, std::span<float const> targets) {
    if (predictions.size() != targets.size())
      refuse("regression_evaluator: got ", targets.size(), " targets for ", predictions.size(), " predictions");
    for (std::size_t i = 0; i < targets.size(); ++i) window_.add({predictions[i], targets[i]});
  }
  std::deque<Sample> const& samples() const { return window_.samples(); }

  /// mse: Σ (p - t)² / n;  mae: Σ |p - t| / n;  r2: 1 - Σ (p - t)² / Σ (t - mean of t)². If all targets are equal, r2
  /// is 1 for exact predictions and 0 for others. NaN without samples.
  double value() const {
    if (samples().empty()) return std::numeric_limits<double>::quiet_NaN();
    double const n = static_cast<double>(samples().size());
    double absolute = 0, squared = 0, sum = 0, spread = 0;
    for (Sample const& s : samples()) {
      double const error = static_cast<double>(s.predicted) - static_cast<double>(s.actual);
      absolute += std::abs(error), squared += error * error, sum += static_cast<double>(s.actual);
    }
    if (metric_ == "mae") return absolute / n;
    if (metric_ == "mse") return squared / n;
    double const mean = sum / n;  // exact for equal targets, which then have no spread
    for (Sample const& s : samples()) spread += std::pow(static_cast<double>(s.actual) - mean, 2);
    return spread > 0 ? 1 - squared / spread : squared > 0 ? 0 : 1 - squared;
  }

 private:
  std::string metric_;
  Window<Sample> window_;
};

}  // namespace coldpress
