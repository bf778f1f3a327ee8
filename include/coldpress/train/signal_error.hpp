// A callback that judges a model of a device by the signal that it makes.
#pragma once

#include <coldpress/data/chart.hpp>
#include <coldpress/train/trainer.hpp>

#include <memory>
#include <span>

namespace coldpress::train {

/// Evaluates the network on segments of a signal, which are borrowed, and adds the statistic NAME/esr: the error to
/// signal ratio of all of them together, Σ (y - t)² / Σ t². Of silence it is not a number.
class SignalError {
 public:
  explicit SignalError(data::Source const& segments, std::string statistics = "validation");
  void operator()(Trainer& trainer);
  /// The same without a statistic.
  void evaluate(Trainer& trainer);
  /// That of the last evaluation; NaN before the first one.
  double ratio() const { return last_->ratio; }

  /// Target and output of the last evaluation: the wave around its loudest step for 20 ms, and the spectra of
  /// everything up to half of the sample rate, in dB. None before the first one.
  std::vector<data::Chart> charts(Index sample_rate) const;

  std::string name;

 private:
  struct Last {
    double ratio;
    std::vector<float> output, target;
  };
  data::Source const* segments_;
  std::shared_ptr<Last> last_;  // shared by copies, so that a report can be given one
};

/// Σ (output - target)² / Σ target²; both have equally many values.
double error_to_signal_ratio(std::span<float const> output, std::span<float const> target);

/// What people who model amplifiers say of such a ratio; the bounds are those of the Neural Amp Modeler's trainer.
char const* judgement_of_ratio(double ratio);

}  // namespace coldpress::train
