// Measures how good a network is on a dataset.
#pragma once

#include <coldpress/data/batches.hpp>
#include <coldpress/dynamic/layer.hpp>
#include <coldpress/run/communicator.hpp>

#include <functional>

namespace coldpress::train {

using dynamic::Values;

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

/// Whether the loss takes class numbers as targets.
bool takes_labels(dynamic::LayerConfig const& loss);
/// Whether the loss takes the logarithms of probabilities and the network ends in a Softmax, which computes the
/// probabilities themselves: such a run learns, but it is not the cross entropy that falls.
bool lacks_logarithm(dynamic::LayerConfig const& network, Objective const& loss);
/// Whether the targets are class numbers.
bool has_labels(Objective const& loss, Shape output, Shape targets);

/// Throws ShapeError, with both shapes, unless the samples have the shape of the network's input. Extents of 1 do not
/// count, and a flat shape fits any other with as many values.
void check_samples(Shape const& samples, Shape const& input);

/// Throws ShapeError if data, network and loss do not fit together, ConfigError for a layer that is not a loss, and
/// DataError for a label that is not a class. `spec`, the source of the data, becomes part of the error.
void check_fits(dynamic::Layer const& network, Objective const& loss, data::Source const& source,
                std::string const& spec);

/// How many samples have a class, and for how many of these the largest output is that of their class.
struct Hits {
  Index samples = 0, right = 0;
};
/// `targets` are labels or, as OneHot makes them, a value for each class. A label that is no class is one that the loss
/// ignores.
Hits hits(Values outputs, Values targets, Index samples);

/// How outputs are computed from samples, and judged; see AnySolver.
struct Evaluated {
  std::function<Values(Values samples, Values targets)> predict;
  std::function<std::optional<double>(Values outputs, Values targets)> loss;
  bool labels = false;  // whether targets are classes, so that there is an accuracy
};
/// The network is borrowed. The caller sets `labels`.
Evaluated evaluated(dynamic::Layer& network, Objective const& loss);
/// The means over all samples. `each` is called for each minibatch with its outputs and targets. With ranks, which must
/// all call this, each rank reads and judges a share of the minibatches, for which alone it calls `each`, and all get
/// the bits that one process gets; it throws what the communicator throws, too.
Score evaluate(Evaluated const& network, data::Source const& source, Index batch,
               std::function<void(data::Batches::Batch const&, Values outputs)> const& each = {},
               Communicator* ranks = nullptr);
/// The same for a network and its loss, in inference mode. The data must have passed check_fits. `one_hot` says that
/// targets are classes as OneHot makes them.
Score evaluate(dynamic::Layer& network, Objective const& loss, data::Source const& source, Index batch,
               bool one_hot = false);

}  // namespace coldpress::train
