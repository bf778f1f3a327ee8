// What a training does because of its own course: how its quality is measured, and what follows from that.
#pragma once

#include <coldpress/core/error.hpp>
#include <coldpress/core/shape.hpp>

#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>

namespace coldpress {

/// Whether lower or higher values of a metric are better.
enum class Better { lower, higher };
constexpr auto spellings(Better) { return std::array<std::string_view, 2>{"lower", "higher"}; }

/// A number by which a training is judged: the name of a statistic, such as validation/loss or validation/accuracy.
struct Metric {
  std::string name = "validation/loss";
  Better better = Better::lower;

  /// Whether a value is better than the best so far by more than `min_delta`. NaN never is.
  bool improves(double value, std::optional<double> best, double min_delta = 0) const {
    if (!best) return !std::isnan(value);
    return better == Better::lower ? value < *best - min_delta : value > *best + min_delta;
  }
  bool operator==(Metric const&) const = default;
};

/// Ends the training when the metric has not improved `patience` times in a row.
struct EarlyStopping {
  Metric metric = {};
  Index patience = 10;
  double min_delta = 0;      // what counts as an improvement
  bool restore_best = true;  // the weights in the end are those of the best value
  bool operator==(EarlyStopping const&) const = default;
};

/// Multiplies the learning rate by `factor` when the metric has not improved `patience` times in a row, like Keras's
/// ReduceLROnPlateau; PyTorch's, with an absolute threshold, waits for one value more. With `reload`, the weights and
/// the optimizer's state also go back to those of the best value. Mocha's DecayOnValidation is {.factor = 0.5,
/// .patience = 1, .min_delta = 0, .min_rate = 1e-8, .reload = true}.
struct ReduceOnPlateau {
  Metric metric = {};
  float factor = 0.1f;
  Index patience = 10;
  double min_delta = 1e-4;
  Index cooldown = 0;  // how many values after a reduction are not counted
  float min_rate = 0;  // the rate is never reduced below this
  bool reload = false;
  bool operator==(ReduceOnPlateau const&) const = default;
};

/// Keeps an average of the weights and the running statistics, which is what is validated and saved; the training goes
/// on with the weights themselves.
struct WeightAverage {
  enum class Kind { none, ema, swa };
  Kind kind = Kind::none;
  float decay = 0.999f;  // ema: after each update, average <- decay average + (1 - decay) weights
  Index from_epoch = 0;  // swa: the mean over the ends of the epochs after this number of them
  bool operator==(WeightAverage const&) const = default;
};

struct Monitoring {
  double validate = 0;  // the fraction of the data that is held out, drawn by the seed
  std::optional<EarlyStopping> early_stopping = {};
  std::optional<ReduceOnPlateau> reduce_on_plateau = {};
  WeightAverage average = {};
  bool operator==(Monitoring const&) const = default;
};

/// Throws ConfigError, with the field, for a number that makes no sense.
inline void check_numbers(Monitoring const& monitoring) {
  auto const number = [](double value) { return "got " + std::to_string(value); };
  check_field(monitoring.validate >= 0 && monitoring.validate < 1, "validate",
              "must be at least 0 and below 1, " + number(monitoring.validate));
  if (auto const& stop = monitoring.early_stopping) {
    check_field(!stop->metric.name.empty(), "early_stopping.metric", "must not be empty");
    check_field(stop->patience >= 1, "early_stopping.patience", "must be at least 1");
    check_field(stop->min_delta >= 0 && std::isfinite(stop->min_delta), "early_stopping.min_delta",
                "must be at least 0 and finite, " + number(stop->min_delta));
  }
  if (auto const& reduce = monitoring.reduce_on_plateau) {
    check_field(!reduce->metric.name.empty(), "reduce_on_plateau.metric", "must not be empty");
    check_field(reduce->factor > 0 && reduce->factor < 1, "reduce_on_plateau.factor",
                "must be between 0 and 1, " + number(static_cast<double>(reduce->factor)));
    check_field(reduce->patience >= 1, "reduce_on_plateau.patience", "must be at least 1");
    check_field(reduce->cooldown >= 0, "reduce_on_plateau.cooldown", "must not be negative");
    check_field(reduce->min_delta >= 0 && std::isfinite(reduce->min_delta), "reduce_on_plateau.min_delta",
                "must be at least 0 and finite, " + number(reduce->min_delta));
    check_field(reduce->min_rate >= 0 && std::isfinite(reduce->min_rate), "reduce_on_plateau.min_rate",
                "must be at least 0 and finite, " + number(static_cast<double>(reduce->min_rate)));
  }
  WeightAverage const& average = monitoring.average;
  check_field(average.kind != WeightAverage::Kind::ema || (average.decay > 0 && average.decay < 1), "average.ema",
              "must be between 0 and 1, " + number(static_cast<double>(average.decay)));
  check_field(average.from_epoch >= 0, "average.swa", "must not be negative");
}

}  // namespace coldpress
