// The numbers that a training produces, by their names and the iterations at which they were taken.
#pragma once

#include <coldpress/optim/monitoring.hpp>
#include <coldpress/persist/checkpoint.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace coldpress::train {

using persist::Series;

/// A mean over samples that is given in portions.
class Mean {
 public:
  Mean() = default;
  Mean(double sum, Index samples) : sum_(sum), samples_(samples) {}
  void add(double value, Index samples) { sum_ += value * static_cast<double>(samples), samples_ += samples; }
  /// NaN without samples.
  double value() const { return sum_ / static_cast<double>(samples_); }
  double sum() const { return sum_; }
  Index samples() const { return samples_; }

 private:
  double sum_ = 0;
  Index samples_ = 0;
};

class Statistics {
 public:
  /// Iterations must not decrease within a series. A second value for an iteration replaces the first.
  void add(std::string_view name, std::uint64_t iteration, double value);
  /// Null if there is none.
  Series const* find(std::string_view name) const;
  /// The last value of a series, if there is one.
  std::optional<double> last(std::string_view name) const;
  /// In the order in which they began.
  std::vector<Series> const& all() const { return series_; }
  void assign(std::vector<Series> series) { series_ = std::move(series); }

 private:
  std::vector<Series> series_;
};

}  // namespace coldpress::train
