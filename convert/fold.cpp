#include <coldpress/convert/fold.hpp>

#include <dynamic/wiring.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <set>

namespace coldpress::convert {
namespace {

using dynamic::LayerConfig;
using dynamic::SequentialConfig;
using persist::NamedTensor;

/// How a layer's weight and its output are ordered by outputs.
struct Outputs {
  Index count;
  bool transposed;  // whether the weight is {channels, outputs of a group, ...} instead of {outputs, ...}
  Index groups;
  std::vector<int> axes;  // the numbers of the axis along which the outputs are

  /// Whether a weight has such a shape, which nobody has checked in a model without the shape of its samples.
  bool fit(NamedTensor const& weight) const {
    if (!transposed) return weight.shape[0] == count;
    return groups >= 1 && weight.shape.size() > 1 && weight.shape[0] % groups == 0 && count % groups == 0 &&
           weight.shape[1] == count / groups;
  }
};

std::optional<Outputs> outputs_of(LayerConfig const& layer, NamedTensor const& weight) {
  // Images are {channels, height, width}, sequences {steps, channels}, and have filters of one axis.
  std::vector<int> const axes = weight.shape.size() == 3 ? std::vector{1, -1} : std::vector{0, -3};
  if (auto const* linear = std::get_if<Linear>(&layer.layer_type))
    return Outputs{linear->output_size, false, 1, linear->last_axis ? std::vector{-1} : std::vector{0, -1}};
  if (auto const* convolution = std::get_if<Convolution>(&layer.layer_type))
    return Outputs{convolution->num_output, false, 1, axes};
  if (auto const* transposed = std::get_if<ConvolutionTranspose>(&layer.layer_type))
    return Outputs{transposed->num_output, true, transposed->groups, axes};
  return {};
}
bool has_bias(LayerConfig const& layer) {
  return std::visit(
      [](auto const& l) {
        if constexpr (requires { l.has_bias; }) return l.has_bias;
        return false;
      },
      layer.layer_type);
}
void give_bias(LayerConfig& layer) {
  std::visit(
      [](auto& l) {
        if constexpr (requires { l.has_bias; }) l.has_bias = true;
      },
      layer.layer_type);
}

class Folding {
 public:
  explicit Folding(persist::Model& model) : model_(model), in_file_(model.weights.size()) {
    survey(model.config);
    for (std::size_t i = 0; i < in_file_; ++i) places_[model.weights[i].name] = i;
  }

  std::vector<std::string> all() {
    fold(model_.config);
    std::vector<NamedTensor> weights;
    for (std::size_t i = 0; i < in_file_; ++i) {
      if (gone_.count(i) == 0) weights.push_back(std::move(model_.weights[i]));
      if (auto const bias = new_biases_.find(i); bias != new_biases_.end())
        weights.push_back(std::move(model_.weights[bias->second]));
    }
    model_.weights = std::move(weights);
    return std::move(folded_);
  }

 private:
  static constexpr std::string_view generated = "SEQUENTIAL_";  // names that count layers

  /// Counts, in the whole network, how often each value is read, and notes which weights have names of their own.
  void survey(LayerConfig const& layer) {
    for (std::string const& name : layer.inputs) {
      ++readers_[name];
      counts_layers_ = counts_layers_ || name.starts_with(generated);
    }
    for (auto const& weight : layer.params) {
      if (!weight.name.empty()) named_weights_.insert(weight.name);
    }
    if (auto const* container = std::get_if<SequentialConfig>(&layer.layer_type)) {
      for (LayerConfig const& inner : container->layers) survey(inner);
      for (std::string const& name : layer.outputs) ++readers_[name];  // which it takes from within
    }
  }

  void fold(LayerConfig& layer) {
    auto* const container = std::get_if<SequentialConfig>(&layer.layer_type);
    if (!container) return;
    auto& layers = container->layers;
    std::vector<LayerConfig> kept;
    kept.reserve(layers.size());
    for (std::size_t i = 0; i < layers.size(); ++i) {
      fold(layers[i]);
      if (!kept.empty() && fold(kept.back(), layers[i])) {
        auto& outputs = kept.back().outputs;
        outputs = layers[i].outputs;
        if (outputs.empty() && i + 1 == layers.size()) outputs = {generated_name(layers[i], i, true, "")};
        folded_.push_back(layers[i].name);
      } else {
        kept.push_back(std::move(layers[i]));
      }
    }
    layers = std::move(kept);
  }

  /// The place of a weight that no other layer has, and that has so many values, if a number is given.
  std::optional<std::size_t> own(std::string const& name, std::size_t values = 0) const {
    auto const found = places_.find(name);
    if (found == places_.end() || named_weights_.count(name) > 0) return {};
    if (values > 0 && model_.weights[found->second].values.size() != values) return {};
    return found->second;
  }
  bool names_weights(LayerConfig const& layer) const {
    return std::ranges::any_of(layer.params, [](auto const& weight) { return !weight.name.empty(); });
  }
  /// Whether `after` reads what `before` makes, and nothing else does.
  bool alone(LayerConfig const& before, LayerConfig const& after) const {
    if (before.outputs.size() > 1 || after.inputs.size() > 1 || after.outputs.size() > 1 || counts_layers_)
      return false;
    if (before.outputs.empty()) return after.inputs.empty();
    std::string const& value = before.outputs[0];
    if (!after.inputs.empty() && after.inputs[0] != value) return false;
    if (after.outputs == before.outputs) return true;  // in place
    auto const readers = readers_.find(value);
    return (readers == readers_.end() ? 0 : readers->second) == after.inputs.size();
  }

  bool fold(LayerConfig& before, LayerConfig const& after) {
    auto const* const normalization = std::get_if<BatchNormalization>(&after.layer_type);
    if (!normalization || !alone(before, after) || names_weights(before) || names_weights(after)) return false;
    auto const weight = own(before.name + "-0");
    if (!weight) return false;
    auto const outputs = outputs_of(before, model_.weights[*weight]);
    if (!outputs || !outputs->fit(model_.weights[*weight]) ||
        std::ranges::count(outputs->axes, normalization->axis) == 0)
      return false;
    auto const size = static_cast<std::size_t>(outputs->count);
    std::array<std::size_t, 4> of_normalization{};
    for (std::size_t k = 0; k < 4; ++k) {
      auto const place = own(after.name + std::array{"-0", "-0-bias", "-0-mean", "-0-variance"}[k], size);
      if (!place) return false;
      of_normalization[k] = *place;
    }
    std::string const bias = before.name + "-0-bias";
    auto const given = own(bias, size);
    if (has_bias(before) ? !given : places_.count(bias) + named_weights_.count(bias) > 0) return false;

    auto const number = [&](std::size_t place, std::size_t k) { return double{model_.weights[place].values[k]}; };
    auto const [scales, biases, means, variances] = of_normalization;
    std::vector<double> factors;
    std::vector<float> sums;
    for (std::size_t k = 0; k < size; ++k) {
      factors.push_back(number(scales, k) / std::sqrt(number(variances, k) + double{normalization->epsilon}));
      double const start = given ? number(*given, k) : 0;
      sums.push_back(static_cast<float>(factors[k] * (start - number(means, k)) + number(biases, k)));
    }
    scale(model_.weights[*weight], *outputs, factors);
    if (given) {
      model_.weights[*given].values = std::move(sums);
    } else {
      new_biases_[*weight] = places_[bias] = model_.weights.size();
      model_.weights.push_back({bias, {outputs->count}, std::move(sums)});
      give_bias(before);
    }
    gone_.insert(of_normalization.begin(), of_normalization.end());
    return true;
  }

  static void scale(NamedTensor& weight, Outputs const& outputs, std::vector<double> const& factors) {
    auto const values = weight.values.size(), count = factors.size();
    std::size_t const in_group = count / static_cast<std::size_t>(outputs.groups),
                      rows = outputs.transposed ? static_cast<std::size_t>(weight.shape[0]) * in_group : count,
                      row = values / rows, of_group = rows / static_cast<std::size_t>(outputs.groups);
    for (std::size_t i = 0; i < values; ++i) {
      std::size_t const r = i / row, output = outputs.transposed ? r / of_group * in_group + r % in_group : r;
      weight.values[i] = static_cast<float>(factors[output] * double{weight.values[i]});
    }
  }

  persist::Model& model_;
  std::size_t in_file_;  // the number of weights; new ones come behind them
  std::map<std::string, std::size_t> readers_;
  std::set<std::string> named_weights_;
  std::map<std::string, std::size_t> places_;      // of weights, by their names
  std::map<std::size_t, std::size_t> new_biases_;  // by the places of the weights that they follow
  std::set<std::size_t> gone_;
  bool counts_layers_ = false;
  std::vector<std::string> folded_;
};

}  // namespace

std::vector<std::string> fold_batch_normalization(persist::Model& model) { return Folding{model}.all(); }

}  // namespace coldpress::convert
