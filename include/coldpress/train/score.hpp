// Measures how good a network is on a dataset.
#pragma once

#include <coldpress/core/along.hpp>
#include <coldpress/data/batches.hpp>
#include <coldpress/run/communicator.hpp>
#include <coldpress/train/input_arrays.hpp>

#include <functional>

namespace coldpress::train {

using dynamic::Values;

/// The values of statistics, such as accuracies, by their names.
using NamedValues = std::vector<std::pair<std::string, double>>;

/// A measure that does not exist for a network and its targets is left out.
struct Score {
  /// A statistic in the network that is called accuracy is the accuracy.
  std::optional<double> loss, accuracy;
  /// The other statistics in the network, in its order, each over all samples.
  NamedValues statistics = {};
};
/// For example "loss 0.1234  accuracy 0.9512  top 0.9931".
std::string to_string(Score const& score);

/// A loss, or, as in Juice, a container of the output and the targets that ends in one.
using Objective = std::optional<dynamic::LayerConfig>;

/// The axis of the classes of an output, if the targets have the extents of its other axes, so that there is a label at
/// each position: {steps, 1} or {steps} for an output {steps, classes}, {1, h, w} or {h, w} for {classes, h, w}. Where
/// the extents fit several axes, it is the last.
std::optional<int> class_axis(Shape const& output, Shape const& targets);
/// The loss called `name`, for a network with this output, whose classes are along class_axis if it has an axis of
/// classes. Throws ConfigError if there is none.
dynamic::LayerConfig loss_called(std::string const& name, Shape output, Shape targets = {1});
/// The loss that fits a network and its targets: none if the network has losses of its own. For a label of each sample
/// it is negative_log_likelihood if the network ends in Softmax or LogSoftmax, and otherwise none; for a label at each
/// position, the cross entropy along class_axis: multinomial_logistic if the network ends in a softmax along that axis,
/// and otherwise softmax_loss, which is also that of logarithms of probabilities; and mean_squared_error if there are
/// as many targets as outputs. Throws ShapeError for other targets.
Objective loss_for(dynamic::Layer const& network, Shape targets);

/// Whether the network has a statistic of this name. All kinds of them are accuracies, of which high values are good.
bool has_statistic(dynamic::LayerConfig const& network, std::string const& name);

/// Whether the loss takes class numbers as targets.
bool takes_labels(dynamic::LayerConfig const& loss);
/// Whether the loss takes the logarithms of probabilities and the network ends in a Softmax, which computes the
/// probabilities themselves: such a run learns, but it is not the cross entropy that falls.
bool lacks_logarithm(dynamic::LayerConfig const& network, Objective const& loss);
/// How the losses in a network use its targets.
struct LabelUse {
  bool labels = false;     // a loss reads class numbers from them
  bool of_output = false;  // and compares a class of each sample with the first output, but for a softmax or its shape
};
/// The number of classes of a loss of class numbers that reads a value of this shape; 0 for any other part of a
/// network.
template <class L>
constexpr Index classes_of_loss(L const& part, Shape const& compared) {
  if constexpr (Loss<L> && Labelled<L>) {
    return part.classes(compared);
  } else {
    return 0;
  }
}
/// `classes` has these numbers for the nodes of the network.
LabelUse label_use(Description const& network, std::vector<NetworkInput> const& inputs,
                   std::vector<Index> const& classes);
/// Whether a loss, in the network or outside, takes class numbers from the targets.
bool takes_labels(dynamic::Layer const& network, Objective const& loss);
/// Whether the targets are classes of the network's first output, one for each sample: by the loss, or the losses of
/// the network, or, if there are none, because each sample has one target and several values.
bool has_labels(dynamic::Layer const& network, Objective const& loss, Shape targets);
/// The lines of an output along its classes, if the targets are class numbers: one line, which is the whole output, for
/// a label of each sample, and otherwise as many as there are labels.
std::optional<Along> classes_of(dynamic::Layer const& network, Objective const& loss, Shape targets);
/// The output as the only line of classes.
constexpr Along one_line(Shape const& output) { return {1, output.size(), 1}; }

/// Throws ShapeError, with both shapes, unless the samples have the shape of the network's input, or, if it has several
/// of samples, the values of all. Extents of 1 do not count, and a flat shape fits any other with as many values.
void check_samples(Shape const& samples, Shape const& input);

/// Throws ShapeError if data, network and loss do not fit together, ConfigError for a layer that is not a loss, and
/// DataError for a label that is not a class. `spec`, the source of the data, becomes part of the error.
void check_fits(dynamic::Layer const& network, Objective const& loss, data::Source const& source,
                std::string const& spec);

/// How many lines of the outputs of samples have a class, and in how many of these the largest value is that of the
/// class.
struct Hits {
  Index lines = 0, right = 0;
};
/// `classes` are the lines of a sample's output. `targets` are a label for each line or, as OneHot makes them, a value
/// for each class. A label that is no class is one that the loss ignores.
Hits hits(Values outputs, Values targets, Index samples, Along const& classes);

/// How outputs are computed from samples, and judged; see AnySolver.
struct Evaluated {
  std::function<Values(Values samples, Values targets)> predict;
  std::function<std::optional<double>(Values outputs, Values targets)> loss;
  std::function<std::optional<double>()> own_loss = {};  // nothing here: the network has none of its own
  std::function<std::vector<double>()> sums = {};        // of the network's losses and statistics, for the last samples
  std::function<NamedValues(std::span<double const> sums)> statistics = {};  // which sums give; NaN without a sample
  std::optional<Along> classes = {};  // the lines of an output along its classes, if targets are classes: an accuracy
};
/// The network is borrowed. If it has losses or statistics of its own, its evaluate has then seen the last minibatch
/// alone. The caller sets `classes`.
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
