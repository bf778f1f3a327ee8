// Multiplies the scale of a batch normalisation into the weights before it, and adds its shift to their bias.
#include <coldpress/convert/fold.hpp>

#include <coldpress/core/counted.hpp>

#include "fold_wiring.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <set>

namespace coldpress::convert {
namespace {

using persist::NamedTensor;

/// How a layer's weight and its output are ordered by outputs.
struct Outputs {
  Index count;
  bool transposed;  // whether the weight is {channels, outputs of a group, ...} instead of {outputs, ...}
  Index groups;
  std::vector<int> axes;  // the numbers of the axis along which the outputs are

  /// Whether a weight has such a shape. Nothing has checked this if the model does not have the shape of its samples.
  bool fit(NamedTensor const& weight) const {
    if (!transposed) return weight.shape[0] == count;
    return groups >= 1 && weight.shape.size() > 1 && weight.shape[0] % groups == 0 && count % groups == 0 &&
           weight.shape[1] == count / groups;
  }
  /// Whether the outputs are along this axis of a shape that was given to the same values, where all values of an
  /// output, or all outputs of a position, follow one another.
  bool stay(Shape const& shape, int axis) const {
    int const a = axis < 0 ? shape.rank() + axis : axis;
    if (a < 0 || a >= shape.rank()) return false;
    auto const one = [](Index extent) { return extent == 1; };
    auto const *const extents = shape.extents, *const end = extents + shape.rank();
    return (std::ranges::count(axes, 0) > 0 && std::all_of(extents, extents + a, one)) ||
           (std::ranges::count(axes, -1) > 0 && std::all_of(extents + a + 1, end, one));
  }
};

/// The outputs of a convolution or a dense layer; nothing for other layers. It does not read the weight.
std::optional<Outputs> outputs_of(LayerConfig const& layer) {
  if (auto const* linear = std::get_if<Linear>(&layer.layer_type))
    return Outputs{linear->output_size, false, 1, linear->last_axis ? std::vector{-1} : std::vector{0, -1}};
  if (auto const* convolution = std::get_if<Convolution>(&layer.layer_type))
    return Outputs{convolution->num_output, false, 1, {}};
  if (auto const* transposed = std::get_if<ConvolutionTranspose>(&layer.layer_type))
    return Outputs{transposed->num_output, true, transposed->groups, {}};
  return {};
}
/// The shape that a layer gives to values which it passes on. That of Flatten is any with one axis.
std::optional<Shape> view_of(LayerConfig const& layer) {
  if (auto const* reshape = std::get_if<Reshape>(&layer.layer_type)) return reshape->shape;
  if (std::holds_alternative<Flatten>(layer.layer_type)) return Shape{1};
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
  explicit Folding(persist::Model& model) : model_(model), in_file_(model.weights.size()), wiring_(model.config) {
    survey(model.config);
    for (std::size_t i = 0; i < in_file_; ++i) places_[model.weights[i].name] = i;
  }

  FoldedNormalizations all() {
    fold(model_.config);
    std::vector<NamedTensor> weights;
    for (std::size_t i = 0; i < in_file_; ++i) {
      if (gone_.count(i) == 0) weights.push_back(std::move(model_.weights[i]));
      if (auto const bias = new_biases_.find(i); bias != new_biases_.end())
        weights.push_back(std::move(model_.weights[bias->second]));
    }
    model_.weights = std::move(weights);
    return std::move(done_);
  }

 private:
  /// Collects the weights that have names of their own.
  void survey(LayerConfig const& layer) {
    for (auto const& weight : layer.params) {
      if (!weight.name.empty()) named_weights_.insert(weight.name);
    }
    if (auto const* container = std::get_if<SequentialConfig>(&layer.layer_type)) {
      for (LayerConfig const& inner : container->layers) survey(inner);
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
      bool folded = false;
      if (auto const* const normalization = std::get_if<BatchNormalization>(&layers[i].layer_type)) {
        try {
          LayerConfig& before = fold(kept, layers[i], *normalization);
          before.outputs = layers[i].outputs;
          if (before.outputs.empty() && i + 1 == layers.size())
            before.outputs = {dynamic::generated_name(layers[i], i, true, "")};
          done_.folded.push_back(layers[i].name);
          folded = true;
        } catch (Refusal const& refusal) {
          done_.kept.push_back({layers[i].name, refusal.reason});
        }
      }
      if (!folded) kept.push_back(std::move(layers[i]));
    }
    layers = std::move(kept);
  }

  /// The place of a weight that no other layer has. Unless `values` is 0, the weight must have that many values.
  std::size_t own(std::string const& name, std::size_t values = 0) const {
    std::string const shown = "the weight '" + persist::printable(name) + "'";
    auto const found = places_.find(name);
    if (found == places_.end()) refuse(shown + " is not in the file");
    if (named_weights_.count(name) > 0) refuse("other layers share " + shown);
    std::size_t const size = model_.weights[found->second].values.size();
    if (values > 0 && size != values)
      refuse(shown + " has " + counted(size, "value") + ", and not one for each of " + counted(values, "output"));
    return found->second;
  }
  static void refuse_named_weights(LayerConfig const& layer) {
    if (std::ranges::any_of(layer.params, [](auto const& weight) { return !weight.name.empty(); }))
      refuse("'" + persist::printable(layer.name) + "' has weights with names of their own, which layers may share");
  }

  /// Folds a normalisation, and returns the layer whose value it read. Throws Refusal, and has changed nothing then.
  LayerConfig& fold(std::vector<LayerConfig>& kept, LayerConfig const& after, BatchNormalization const& normalization) {
    std::size_t const read = wiring_.before(kept, after);
    std::size_t place = read;
    while (view_of(kept[place])) place = wiring_.before({kept.data(), place}, kept[place]);
    LayerConfig& before = kept[place];
    std::string const shown = "'" + persist::printable(before.name) + "' (" +
                              persist::camel_case(dynamic::type_name(before.layer_type)) + ")";
    auto outputs = outputs_of(before);
    if (!outputs) refuse("it comes after " + shown + ", which is no convolution or dense layer");
    refuse_named_weights(before), refuse_named_weights(after);
    // Dense layers and convolutions name their weights alike.
    static constexpr auto names_before = Linear{.output_size = 1}.parameters({1});
    static constexpr auto names_after = BatchNormalization{}.parameters({1});
    auto const weight = own(before.name + std::string{names_before[0].suffix});
    if (!outputs->fit(model_.weights[weight])) refuse("the weight of " + shown + " does not have its shape");
    // Sequences are {steps, channels}, and have filters of one axis. Images and volumes begin with their channels, and
    // have as many axes as the weight has apart from that of the outputs.
    int const axes = static_cast<int>(model_.weights[weight].shape.size()) - 1;
    if (outputs->axes.empty()) outputs->axes = axes == 2 ? std::vector{1, -1} : std::vector{0, -axes};
    if (place == read ? std::ranges::count(outputs->axes, normalization.axis) == 0
                      : !outputs->stay(*view_of(kept[read]), normalization.axis))
      refuse("its axis " + std::to_string(normalization.axis) + " is not that of the outputs of " + shown);
    auto const size = static_cast<std::size_t>(outputs->count);
    std::array<std::size_t, names_after.size()> of_normalization{};
    for (std::size_t k = 0; k < of_normalization.size(); ++k)
      of_normalization[k] = own(after.name + std::string{names_after[k].suffix}, size);
    std::string const bias = before.name + std::string{names_before[1].suffix};
    std::optional<std::size_t> given;
    if (has_bias(before)) given = own(bias, size);
    if (!given && places_.count(bias) + named_weights_.count(bias) > 0)
      refuse("the name '" + persist::printable(bias) + "' of a new bias is taken");

    auto const number = [&](std::size_t which, std::size_t k) { return double{model_.weights[which].values[k]}; };
    auto const [scales, biases, means, variances] = of_normalization;
    std::vector<double> factors;
    std::vector<float> sums;
    for (std::size_t k = 0; k < size; ++k) {
      factors.push_back(number(scales, k) / std::sqrt(number(variances, k) + double{normalization.epsilon}));
      double const start = given ? number(*given, k) : 0;
      sums.push_back(static_cast<float>(factors[k] * (start - number(means, k)) + number(biases, k)));
    }
    scale(model_.weights[weight], *outputs, factors);
    if (given) {
      model_.weights[*given].values = std::move(sums);
    } else {
      new_biases_[weight] = places_[bias] = model_.weights.size();
      model_.weights.push_back({bias, {outputs->count}, std::move(sums)});
      give_bias(before);
    }
    gone_.insert(of_normalization.begin(), of_normalization.end());
    return kept[read];
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
  FoldWiring wiring_;
  std::set<std::string> named_weights_;
  std::map<std::string, std::size_t> places_;      // of weights, by their names
  std::map<std::size_t, std::size_t> new_biases_;  // by the places of the weights that they follow
  std::set<std::size_t> gone_;
  FoldedNormalizations done_;
};

}  // namespace

FoldedNormalizations fold_batch_normalization(persist::Model& model) { return Folding{model}.all(); }

}  // namespace coldpress::convert
