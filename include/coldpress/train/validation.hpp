// Callbacks that judge the network on other data, and act on what they find.
#pragma once

#include <coldpress/train/trainer.hpp>

namespace coldpress::train {

/// Evaluates the network on a data set, which is borrowed, and adds the statistics NAME/loss and NAME/accuracy, as far
/// as there are any, and NAME/STATISTIC for each statistic in the network. On several ranks, all must have it: each
/// judges a share of the data.
class Validation {
 public:
  explicit Validation(data::Source const& source, std::string statistics = "validation")
      : name(std::move(statistics)), source_(&source) {}
  void operator()(Trainer& trainer);
  /// The score of the last evaluation.
  Score const& score() const { return score_; }

  static constexpr bool on_all_ranks = true;
  std::string name;

 private:
  data::Source const* source_;
  Score score_ = {};
};

/// The best value of a metric so far, the network that had it, and how often in a row it was not improved.
class Best {
 public:
  Best(Metric metric, double min_delta) : metric_(std::move(metric)), min_delta_(min_delta) {}
  enum class Found { nothing_new, better, not_better };
  /// Looks at the last value of the metric. Throws ConfigError if there has never been one.
  Found look(Trainer const& trainer);
  Metric const& metric() const { return metric_; }
  std::optional<double> value() const { return value_; }
  std::uint64_t iteration() const { return iteration_; }  // of the best value
  Index misses() const { return misses_; }
  void forget_misses() { misses_ = 0; }

  static constexpr std::size_t numbers = 6;
  void save(State& state) const;
  void restore(std::string_view name, std::span<double const> saved);

 private:
  Metric metric_;
  double min_delta_;
  std::optional<double> value_;
  std::uint64_t seen_ = 0, iteration_ = 0;  // seen_: the iteration of the last value that was looked at
  Index misses_ = 0;
};

/// See EarlyStopping in optim/monitoring.hpp. It looks whenever it is called and there is a new value of its metric.
/// With restore_best it keeps a copy of the best weights, and loads it when the training ends, also without it.
class StopEarly {
 public:
  explicit StopEarly(EarlyStopping options = {});
  /// A run that has stopped stops again.
  void begin(Trainer& trainer);
  void operator()(Trainer& trainer);
  Best const& best() const { return best_; }
  static constexpr std::string_view name = "early_stopping";
  static constexpr bool at_end = true;
  State state() const;
  void restore(State const& state);

 private:
  void stop_if_due(Trainer& trainer) const;

  EarlyStopping options_;
  Best best_;
  std::vector<persist::NamedTensor> best_weights_ = {};
};

/// See ReduceOnPlateau in optim/monitoring.hpp.
class ReduceRate {
 public:
  explicit ReduceRate(ReduceOnPlateau options = {});
  void operator()(Trainer& trainer);
  Index reductions() const { return reductions_; }
  static constexpr std::string_view name = "reduce_on_plateau";
  State state() const;
  void restore(State const& state);

 private:
  ReduceOnPlateau options_;
  Best best_;
  Index cooldown_ = 0, reductions_ = 0;
  std::vector<persist::NamedTensor> best_tensors_ = {};  // with reload: weights and states of the optimizer
};

}  // namespace coldpress::train
