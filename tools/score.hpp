// How good a network is on a dataset.
#pragma once

#include <coldpress/data/dataset.hpp>
#include <coldpress/dynamic/layer.hpp>

namespace coldpress::command {

/// A mean over samples whose values come in portions.
class Mean {
 public:
  void add(double value, Index samples) { sum_ += value * static_cast<double>(samples), samples_ += samples; }
  double value() const { return sum_ / static_cast<double>(samples_); }

 private:
  double sum_ = 0;
  Index samples_ = 0;
};

/// What is not known for a kind of network and targets is left out.
struct Score {
  std::optional<double> loss, accuracy;
};
/// "loss 0.1234  accuracy 0.9512"
std::string to_string(Score const& score);

using Objective = std::optional<dynamic::LayerConfig>;

/// The loss called `name` for a network with this output. Throws ConfigError where there is none.
dynamic::LayerConfig loss_called(std::string const& name, Shape output);
/// The loss that fits a network and its targets: negative_log_likelihood for labels of a network that ends in Softmax
/// or LogSoftmax, mean_squared_error where there are as many targets as outputs, none for other labels. Throws
/// ShapeError for other targets.
Objective loss_for(dynamic::Layer const& network, Shape targets);

/// Whether the targets are the numbers of classes.
bool has_labels(Objective const& loss, Shape output, Shape targets);

/// Throws ShapeError where data, network and loss do not fit, ConfigError for a layer that is no loss, and DataError
/// for a label that is no class. `spec`, where the data come from, is part of the error.
void check_fits(dynamic::Layer const& network, Objective const& loss, data::Dataset const& dataset,
                std::string const& spec);

/// Samples whose label is the class that the outputs say.
Index correct(std::span<float const> outputs, std::span<float const> labels);

/// In inference mode, in which the network is left. Expects what check_fits accepts.
Score evaluate(dynamic::Layer& network, Objective const& loss, data::Dataset const& dataset, Index batch);

}  // namespace coldpress::command
