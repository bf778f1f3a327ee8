// Chooses a loss for a network, and measures loss and accuracy in minibatches of a source.
#include <coldpress/train/score.hpp>

#include "data/extents.hpp"
#include "dynamic/objective.hpp"

#include <coldpress/core/to_string.hpp>
#include <coldpress/dynamic/describe.hpp>
#include <coldpress/evaluators/confusion_matrix.hpp>
#include <coldpress/train/statistics.hpp>
#include <coldpress/typed/solver.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace coldpress::train {
namespace {

using dynamic::LayerConfig;

LayerConfig const& last_layer(LayerConfig const& config) {
  auto const* container = std::get_if<dynamic::SequentialConfig>(&config.layer_type);
  return container && !container->layers.empty() ? last_layer(container->layers.back()) : config;
}

/// Whether f(type) holds for a layer of this name, which may be made of its type.
template <class F>
bool any_layer(LayerConfig const& config, std::string const& name, F f) {
  if (auto const* container = std::get_if<dynamic::SequentialConfig>(&config.layer_type)) {
    return std::ranges::any_of(container->layers, [&](LayerConfig const& layer) { return any_layer(layer, name, f); });
  }
  auto const named = [&](auto const& type) {
    if constexpr (requires { type.name; }) {
      return (config.name.empty() ? name.starts_with(type.name) : name == config.name) && f(type);
    } else {
      return false;  // a type of the user's own is none that is asked for
    }
  };
  return std::visit(named, config.layer_type);
}
constexpr auto is_loss = []<class L>(L const&) { return Loss<L>; };
constexpr auto is_statistic = []<class L>(L const&) { return Statistic<L>; };

LabelUse label_use(dynamic::Layer const& network) {
  if (!network.executable().has_losses() || network.input_shapes().size() == 1) return {};
  Description const description = dynamic::description(network.config(), network.input_shape());
  std::vector<Index> classes(description.nodes.size());
  for (std::size_t i = 0; i < classes.size(); ++i) {
    Node const& node = description.nodes[i];
    if (node.kind != Node::Kind::loss) continue;
    Shape const& compared = description.nodes[static_cast<std::size_t>(node.inputs[0])].shape;
    any_layer(network.config(), description.rows[i].name, [&](auto const& type) {
      classes[i] = classes_of_loss(type, compared);
      return classes[i] > 0;
    });
  }
  return label_use(description, network_inputs(description, InputsFor::own_losses), classes);
}

/// The sum of the mean losses of the network's evaluate.
double own_loss(dynamic::Layer const& network) {
  double sum = 0;
  for (auto const& [name, value] : network.statistics())
    if (any_layer(network.config(), name, is_loss)) sum += value;
  return sum;
}

template <class... Losses>
void find_loss(std::string const& name, Index classes, std::optional<int> axis, Objective& found, TypeList<Losses...>) {
  auto const add = [&](auto loss) {
    if (loss.name != name) return;
    if constexpr (requires { loss.num_classes; }) loss.num_classes = classes;
    if constexpr (Labelled<decltype(loss)> && requires { loss.axis; }) loss.axis = axis.value_or(loss.axis);
    found = LayerConfig{"loss", loss};
  };
  (add(Losses{}), ...);
}

/// Samples of this shape, one after another.
dynamic::SharedTensor tensor(std::span<float const> values, Index samples, Shape const& shape) {
  std::vector<Index> extents{samples};
  extents.insert(extents.end(), shape.extents, shape.extents + shape.rank());
  dynamic::SharedTensor result{extents};
  std::ranges::copy(values, result.write_only().begin());
  return result;
}

void check(dynamic::Layer const& network, Objective const& loss, data::Source const& source) {
  Shape const output = network.output_shape();
  auto const inputs = network_inputs(network, inputs_for(loss.has_value()));
  auto const targets = inputs_of(inputs, true);
  bool const has_own = network.executable().has_losses();
  if (loss && has_own && !targets.empty())
    throw UnsupportedError{"the network takes " + to_string(targets) +
                           " for a loss of its own, and beside it there is the loss '" + loss->name +
                           "', but data have targets for one of them"};
  if (!targets.empty() && joined_shape(targets).size() != source.target_shape().size()) {
    throw ShapeError{"the targets have shape " + coldpress::to_string(source.target_shape()) +
                     ", but the network takes " + to_string(targets)};
  }
  check_arrays(inputs, source);
  if (source.target_shape() == Shape{} && (loss || !targets.empty() || !has_own))
    throw ShapeError{"the data have no targets"};
  auto const check_loss = [&](auto const& type, Shape const& compared) {
    Shape const wanted = type.target_shape(compared);
    if (source.target_shape().size() != wanted.size()) {
      throw ShapeError{"the targets have shape " + to_string(source.target_shape()) + ", but " +
                       std::string{type.name} + " expects " + to_string(wanted)};
    }
    if constexpr (Labelled<std::remove_cvref_t<decltype(type)>>) {
      std::vector<float> const labels = data::targets_of(source);
      check_targets(type, compared, std::span{labels});
    }
  };
  if (loss) {
    auto const objective = dynamic::objective_of(*loss);
    Shape const compared = dynamic::loss_input(objective, output);
    std::visit([&](auto const& type) { check_loss(type, compared); }, objective.loss);
  } else if (!has_own && has_labels(network, loss, source.target_shape())) {  // losses in a network check their own
    check_loss(NegativeLogLikelihood{output.size()}, output);
  }
}

}  // namespace

void check_samples(Shape const& samples, Shape const& input) {
  if (!data::fits(samples, input)) {
    throw ShapeError{"the samples have shape " + to_string(samples) + ", but the network expects " + to_string(input) +
                     (samples.size() == input.size() ? ", which has the same number of values in another order" : "")};
  }
}

std::string to_string(Score const& score) {
  char text[80] = "";
  if (score.loss) std::snprintf(text, sizeof text, "loss %.6g", *score.loss);
  std::string result = text;
  auto const add = [&](std::string const& name, double value) {
    std::snprintf(text, sizeof text, " %.4f", value);
    result += (result.empty() ? "" : "  ") + name + text;
  };
  if (score.accuracy) add("accuracy", *score.accuracy);
  for (auto const& [name, value] : score.statistics) add(name, value);
  return result;
}

std::optional<int> class_axis(Shape const& output, Shape const& targets) {
  for (bool const same : {true, false}) {
    for (int axis = output.rank() - 1; axis >= 0; --axis) {
      Shape const labels = with_extent(output, axis, 1);
      if (output[axis] > 1 && (same ? targets == labels : data::fits(targets, labels))) return axis;
    }
  }
  return {};
}

LayerConfig loss_called(std::string const& name, Shape output, Shape targets) {
  Objective found;
  find_loss(name, output.size(), class_axis(output, targets), found, BuiltinLosses{});
  if (!found) throw ConfigError{"there is no loss '" + name + "'"};
  return *found;
}

Objective loss_for(dynamic::Layer const& network, Shape targets) {
  if (network.executable().has_losses()) return {};
  Shape const output = network.output_shape();
  dynamic::LayerType const& last = last_layer(network.config()).layer_type;
  bool const normalized = std::holds_alternative<Softmax>(last) || std::holds_alternative<LogSoftmax>(last);
  if (normalized && targets.size() == 1) return loss_called(std::string{NegativeLogLikelihood::name}, output);
  if (targets.size() == output.size()) return loss_called(std::string{MeanSquaredError::name}, output);
  if (targets.size() == 1) return {};
  if (auto const axis = class_axis(output, targets)) {
    auto const* const softmax = std::get_if<SoftmaxOver>(&last);
    bool const probabilities = softmax && !softmax->logarithm && axis_of(output, softmax->axis) == *axis;
    std::string_view const name = probabilities ? MultinomialLogistic::name : SoftmaxLoss::name;
    return loss_called(std::string{name}, output, targets);
  }
  throw ShapeError{"the network computes values of shape " + to_string(output) + ", but the targets have shape " +
                   to_string(targets)};
}

bool has_statistic(LayerConfig const& network, std::string const& name) {
  return any_layer(network, name, is_statistic);
}

bool takes_labels(LayerConfig const& loss) {
  return std::visit([](auto const& type) { return Labelled<std::remove_cvref_t<decltype(type)>>; },
                    last_layer(loss).layer_type);
}

bool lacks_logarithm(LayerConfig const& network, Objective const& loss) {
  if (!loss || !std::holds_alternative<Softmax>(last_layer(network).layer_type)) return false;
  auto const objective = dynamic::objective_of(*loss);
  return objective.layers.empty() && std::holds_alternative<NegativeLogLikelihood>(objective.loss);
}

LabelUse label_use(Description const& network, std::vector<NetworkInput> const& inputs,
                   std::vector<Index> const& classes) {
  auto const scores_of = [&](int number) {
    for (;;) {
      Node const& node = network.nodes[static_cast<std::size_t>(number)];
      auto const before = [&]() -> Node const& { return network.nodes[static_cast<std::size_t>(node.inputs[0])]; };
      bool const reshapes = node.kind == Node::Kind::view && before().shape.size() == node.shape.size();
      if (!node.normalizes && !reshapes) return number;
      number = node.inputs[0];
    }
  };
  LabelUse use;
  for (std::size_t i = 0; i < classes.size(); ++i) {
    auto const& compared = network.nodes[i].inputs;
    auto const target = static_cast<std::size_t>(compared[1]);
    if (classes[i] == 0 || target >= inputs.size() || !inputs[target].of_targets) continue;
    use.labels = true;
    bool const one_line = classes[i] == network.nodes[static_cast<std::size_t>(compared[0])].shape.size();
    if (one_line && scores_of(compared[0]) == scores_of(network.outputs[0])) use.of_output = true;
  }
  return use;
}

bool takes_labels(dynamic::Layer const& network, Objective const& loss) {
  return loss ? takes_labels(*loss) : label_use(network).labels;
}

bool has_labels(dynamic::Layer const& network, Objective const& loss, Shape targets) {
  if (targets.size() != 1) return false;
  if (loss) return takes_labels(*loss);
  return network.executable().has_losses() ? label_use(network).of_output : network.output_shape().size() > 1;
}

std::optional<Along> classes_of(dynamic::Layer const& network, Objective const& loss, Shape targets) {
  Shape const output = network.output_shape();
  if (has_labels(network, loss, targets)) return one_line(output);
  if (!loss) return {};
  auto const objective = dynamic::objective_of(*loss);
  Shape const compared = dynamic::loss_input(objective, output);
  if (compared.size() != output.size()) return {};  // the loss reads other values than those of the output
  auto const along = [&](auto const& type) -> std::optional<Along> {
    if constexpr (Labelled<std::remove_cvref_t<decltype(type)>> && requires { type.axis; }) {
      return Along{compared, type.axis};
    } else {
      return {};
    }
  };
  return std::visit(along, objective.loss);
}

void check_fits(dynamic::Layer const& network, Objective const& loss, data::Source const& source,
                std::string const& spec) {
  with_context([&] { check(network, loss, source); }, [&](Error& error) { error.in_file(spec); });
}

Hits hits(Values outputs, Values targets, Index samples, Along const& classes) {
  Index const lines = classes.lines(), size = lines * classes.extent;
  std::vector<float> line;  // whose values are not side by side
  auto const class_in = [&](Values values, Index i) {
    Values const from = values.subspan(static_cast<std::size_t>(i / lines * size + classes.line(i % lines)));
    if (classes.inner == 1) return class_of(from.first(static_cast<std::size_t>(classes.extent)));
    line.clear();
    for (Index k = 0; k < classes.extent; ++k) line.push_back(from[static_cast<std::size_t>(k * classes.inner)]);
    return class_of(line);
  };
  bool const one_hot = static_cast<Index>(targets.size()) > samples * lines;
  Hits found;
  for (Index i = 0; i < samples * lines; ++i) {
    float const label = one_hot ? 0 : targets[static_cast<std::size_t>(i)];
    if (!is_label(label, classes.extent)) continue;
    found.lines += 1;
    found.right += class_in(outputs, i) == (one_hot ? class_in(targets, i) : static_cast<Index>(label));
  }
  return found;
}

Score evaluate(Evaluated const& network, data::Source const& source, Index batch,
               std::function<void(data::Batches::Batch const&, Values outputs)> const& each, Communicator* ranks) {
  struct Judged {  // a minibatch
    double loss;
    Index samples_with_loss;
    Hits hits;
  };
  data::Batches batches{data::in_order(source), batch};
  Index const count = (batches.stream().size() + batch - 1) / batch;
  std::vector<Judged> judged(static_cast<std::size_t>(count));
  std::size_t const sums = network.sums ? network.sums().size() : 0;
  std::vector<double> own_sums(judged.size() * sums);  // of one minibatch after another
  Range const own = share_of(count, ranks ? ranks->rank() : 0, ranks ? ranks->size() : 1);
  if (own.count() > 0) batches.seek({0, own.begin * batch});
  for (Index i = own.begin; i < own.end; ++i) {
    data::Batches::Batch const minibatch = batches.next();
    Values const outputs = network.predict(minibatch.samples, minibatch.targets);
    Judged& now = judged[static_cast<std::size_t>(i)];
    if (network.classes) now.hits = hits(outputs, minibatch.targets, minibatch.size, *network.classes);
    auto const inside = network.own_loss ? network.own_loss() : std::nullopt;
    auto const compared = network.loss(outputs, minibatch.targets);
    if (inside || compared)
      now.loss = inside.value_or(0) + compared.value_or(0), now.samples_with_loss = minibatch.size;
    if (sums > 0) std::ranges::copy(network.sums(), own_sums.begin() + i * static_cast<Index>(sums));
    if (each) each(minibatch, outputs);
  }
  if (ranks) {
    if (sums > 0) {
      ranks->share(own_sums.data(), [&](int rank) {
        return static_cast<std::size_t>(share_of(count, rank, ranks->size()).begin) * sums * sizeof(double);
      });
    }
    ranks->share(judged.data(), [&](int rank) {
      return static_cast<std::size_t>(share_of(count, rank, ranks->size()).begin) * sizeof(Judged);
    });
  }
  Mean loss, accuracy;
  for (Judged const& minibatch : judged) {
    auto const [lines, right] = minibatch.hits;
    if (lines > 0) accuracy.add(static_cast<double>(right) / static_cast<double>(lines), lines);
    if (minibatch.samples_with_loss > 0) loss.add(minibatch.loss, minibatch.samples_with_loss);
  }
  auto const value = [](Mean const& mean) { return mean.samples() > 0 ? std::optional{mean.value()} : std::nullopt; };
  Score score{value(loss), value(accuracy)};
  if (sums == 0) return score;
  std::vector<double> all(sums);  // over the minibatches in their order, so that ranks make no difference
  for (std::size_t i = 0; i < own_sums.size(); ++i) all[i % sums] += own_sums[i];
  for (auto const& [name, number] : network.statistics(all)) {
    if (std::isnan(number) || name == "loss") continue;  // which would be another loss in all that is shown by name
    if (name == "accuracy") {
      score.accuracy = number;
    } else {
      score.statistics.emplace_back(name, number);
    }
  }
  return score;
}

Evaluated evaluated(dynamic::Layer& network, Objective const& loss) {
  std::shared_ptr<dynamic::Layer> objective;
  if (loss) objective = std::make_shared<dynamic::Layer>(dynamic::Layer::from_config(dynamic::Backend{}, *loss));
  bool const has_own = !network.executable().sums(dynamic::Mode::inference).empty();
  return {
      .predict =
          [&network, has_own, arrays = InputArrays{network_inputs(network, inputs_for(loss.has_value()))}](
              Values samples, Values wanted) mutable {
            auto const inputs = arrays.of(samples, wanted);
            if (has_own) {
              network.reset_statistics();
              return network.executable().evaluate(inputs)[0];
            }
            return network.executable().forward(inputs, dynamic::Mode::inference)[0];
          },
      .loss = [objective, shape = network.output_shape()](Values outputs, Values wanted) -> std::optional<double> {
        if (!objective) return {};
        auto const samples = static_cast<Index>(outputs.size()) / shape.size();
        Shape const targets{static_cast<Index>(wanted.size()) / samples};
        dynamic::SharedTensor const compared[] = {tensor(outputs, samples, shape), tensor(wanted, samples, targets)};
        return objective->forward(compared)[0].read()[0];
      },
      .own_loss = [&network]() -> std::optional<double> {
        return network.executable().has_losses() ? std::optional{own_loss(network)} : std::nullopt;
      },
      .sums = [&network] { return network.executable().sums(dynamic::Mode::inference); },
      .statistics =
          [&network](std::span<double const> sums) {
            NamedValues all = network.executable().statistics_of(sums);
            std::erase_if(all, [&](auto const& one) { return !has_statistic(network.config(), one.first); });
            return all;
          }};
}

Score evaluate(dynamic::Layer& network, Objective const& loss, data::Source const& source, Index batch, bool one_hot) {
  Evaluated judged = evaluated(network, loss);
  Shape const output = network.output_shape(), targets = source.target_shape();
  judged.classes = one_hot && targets.size() == output.size() ? one_line(output) : classes_of(network, loss, targets);
  return evaluate(judged, source, batch);
}

}  // namespace coldpress::train
