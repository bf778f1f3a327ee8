// Measures how good a network is on a dataset.
#pragma once

#include <coldpress/data/source.hpp>
#include <coldpress/dynamic/layer.hpp>

namespace coldpress::command {

/// A mean over samples that is given in portions.
class Mean {
 public:
  void add(double value, Index samples) { sum_ += value * static_cast<double>(samples), samples_ += samples; }
  double value() const { return sum_ / static_cast<double>(samples_); }

 private:
  double sum_ = 0;
  Index samples_ = 0;
};

/// A measure that does not exist for a network and its targets is left out.
struct Score {
  std::optional<double> loss, accuracy;
};
/// For example "loss 0.1234  accuracy 0.9512".
std::string to_string(Score const& score);

using Objective = std::optional<dynamic::LayerConfig>;

/// The loss called `name`, for a network with this output. Throws ConfigError if there is none.
dynamic::LayerConfig loss_called(std::string const& name, Shape output);
/// The loss that fits a network and its targets: negative_log_likelihood for labels if the network ends in Softmax or
/// LogSoftmax, mean_squared_error if there are as many targets as outputs, and none for other labels. Throws ShapeError
/// for other targets.
Objective loss_for(dynamic::Layer const& network, Shape targets);

/// Whether the targets are class numbers.
bool has_labels(Objective const& loss, Shape output, Shape targets);

/// Throws ShapeError if data, network and loss do not fit together, ConfigError for a layer that is not a loss, and
/// DataError for a label that is not a class. `spec`, the source of the data, becomes part of the error.
void check_fits(dynamic::Layer const& network, Objective const& loss, data::Source const& source,
                std::string const& spec);

/// The number of samples whose label is the class with the largest output.
Index correct(std::span<float const> outputs, std::span<float const> labels);

/// Sets the network to inference mode and leaves it in that mode. The data must have passed check_fits.
Score evaluate(dynamic::Layer& network, Objective const& loss, data::Source const& source, Index batch);

}  // namespace coldpress::command
