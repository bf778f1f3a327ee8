// Makes the layers of an RTNeural model from its JSON, with their weights in the order that they have here.
#include <coldpress/convert/rtneural.hpp>

#include <coldpress/core/to_string.hpp>

#include "json_numbers.hpp"
#include "rtneural_conv2d.hpp"
#include "whole_network.hpp"

#include <algorithm>
#include <array>

namespace coldpress::convert {
namespace {

using json::Json, json::Node;

constexpr Index max_features = 1 << 16, max_taps = 1 << 20, max_layers = 1024;

constexpr std::array<std::string_view, 9> types{
    "dense", "time-distributed-dense", "conv1d", "conv2d", "gru", "lstm", "prelu", "batchnorm2d", "batchnorm"};

/// A number, or the last one of a list, as files have it.
Index last_integer(Node const& node, Index most) {
  if (!node.is_list()) return node.integer(1, most);
  if (node.size() == 0) node.expected("a number, or a list of numbers");
  return node[node.size() - 1].integer(1, most);
}

/// The values of a step: the last extent of a shape, or the last two of four.
Index features_of(Node const& shape) {
  if (shape.size() < 2 || shape.size() > 4) shape.expected("a list of 2 to 4 extents, the batch first");
  Index const last = last_integer(shape, max_features);
  Index const features = shape.size() == 4 ? shape[2].integer(1, max_features) * last : last;
  if (features > max_features) shape.expected("at most " + json::grouped(max_features) + " values of a step");
  return features;
}

/// The network as far as it has been read.
class RTNeuralReader {
 public:
  explicit RTNeuralReader(Index features) : features_(features) {}

  void read(Node const& layer, std::string const& name) {
    std::string const type = layer["type"].text();
    Node const weights = layer["weights"], shape = layer["shape"];
    Index const outputs = features_of(shape);
    if (type == "dense" || type == "time-distributed-dense") {
      dense(name, weights, outputs);
    } else if (type == "conv1d") {
      conv1d(layer, name, weights, outputs);
    } else if (type == "conv2d") {
      conv2d(layer, name, weights, outputs);
    } else if (type == "gru" || type == "lstm") {
      recurrent(name, type == "gru" ? RnnType::gru : RnnType::lstm, weights, outputs);
    } else {
      if (outputs != features_) shape.expected(std::to_string(features_) + " values of a step, as come in");
      if (type == "prelu") prelu(name, weights);
      if (type == "batchnorm" || type == "batchnorm2d") batchnorm(layer, name, weights);
    }
    features_ = outputs;
    activate(layer, name, type);
  }

  persist::Model model(std::optional<Shape> const& input, Index features) {
    if (input && (input->rank() < 1 || input->rank() > 2 || input->last() != features)) {
      throw ShapeError{"the input is " + to_string(*input) + ", but the network reads {steps, " +
                       std::to_string(features) + "}"};
    }
    layers_.add_input("input", input.value_or(Shape{features}));
    return model_of({"network", std::move(layers_)}, weights_);
  }

 private:
  /// Checks the number of arrays that a layer has as weights; reading them checks their shapes.
  static void check_count(Node const& weights, std::size_t least, std::size_t most) {
    if (weights.size() >= least && weights.size() <= most) return;
    weights.expected("a list of " + std::to_string(least) +
                     (most > least ? " or " + std::to_string(most) : std::string{}));
  }
  void set(std::string const& name, std::vector<float> values) { weights_.emplace(name, std::move(values)); }
  void bias(std::string const& name, Node const& weights, Index outputs) {
    if (weights.size() > 1) set(name + "-0-bias", keras::numbers(weights[1], {outputs}).values);
  }

  void dense(std::string const& name, Node const& weights, Index outputs) {
    check_count(weights, 1, 2);
    set(name + "-0", keras::outputs_first(keras::numbers(weights[0], {features_, outputs})));
    bias(name, weights, outputs);
    layers_.add_layer({name, Linear{.output_size = outputs, .has_bias = weights.size() > 1, .last_axis = true}});
  }

  void convolve(Node const& layer, std::string const& name, Convolution const& convolution) {
    history_ += (convolution.filter_shape[0] - 1) * convolution.dilation[0] * features_;
    if (convolution.filter_shape[0] > max_history / convolution.dilation[0] / features_ || history_ > max_history)
      layer.refuse("a stream would keep more than " + json::grouped(max_history) + " numbers");
    layers_.add_layer({name, convolution});
  }
  void conv1d(Node const& layer, std::string const& name, Node const& weights, Index outputs) {
    check_count(weights, 1, 2);
    Index const taps = last_integer(layer["kernel_size"], max_taps);
    Index const groups = layer.integer("groups", 1, 1, max_features);
    if (features_ % groups != 0 || outputs % groups != 0)
      layer["groups"].refuse("got " + std::to_string(groups) + " groups, which do not divide " +
                             std::to_string(features_) + " inputs and " + std::to_string(outputs) + " outputs");
    convolve(layer, name,
             {.num_output = outputs,
              .filter_shape = taps,
              .dilation = last_integer(layer["dilation"], max_taps),
              .groups = groups,
              .has_bias = weights.size() > 1});
    set(name + "-0", keras::outputs_first(keras::numbers(weights[0], {taps, features_ / groups, outputs})));
    bias(name, weights, outputs);
  }
  void conv2d(Node const& layer, std::string const& name, Node const& weights, Index outputs) {
    check_count(weights, 1, 2);
    auto const size = [&](char const* key) { return last_integer(layer[key], max_features); };
    rtneural::Conv2d const c{.features = size("num_features_in"),
                             .channels = size("num_filters_in"),
                             .outputs = size("num_filters_out"),
                             .taps = size("kernel_size_time"),
                             .width = size("kernel_size_feature"),
                             .stride = size("strides"),
                             .same = layer["padding"].text() == "same"};
    if (!c.same && layer["padding"].text() != "valid") layer["padding"].expected("\"valid\" or \"same\"");
    if (c.features * c.channels != features_)
      layer["num_features_in"].expected("as many features and \"num_filters_in\" as make the " +
                                        std::to_string(features_) + " values of a step");
    if (c.places() * c.outputs != outputs)
      layer["shape"].expected(std::to_string(c.places()) + " features and " + std::to_string(c.outputs) + " channels");
    if (c.taps * features_ > rtneural::max_weights / outputs)
      layer.refuse<UnsupportedError>("as a convolution of the sequence, it would have more than " +
                                     json::grouped(rtneural::max_weights) + " weights");
    convolve(
        layer, name,
        {.num_output = outputs, .filter_shape = c.taps, .dilation = size("dilation"), .has_bias = weights.size() > 1});
    set(name + "-0", c.of_sequence(keras::numbers(weights[0], {c.taps, c.width, c.channels, c.outputs})));
    if (weights.size() > 1) set(name + "-0-bias", repeated(keras::numbers(weights[1], {c.outputs}).values, outputs));
  }

  void recurrent(std::string const& name, RnnType type, Node const& weights, Index outputs) {
    check_count(weights, 2, 3);
    Index const columns = gates_of(type) * outputs;
    keras::Recurrent one{keras::numbers(weights[0], {features_, columns}),
                         keras::numbers(weights[1], {outputs, columns})};
    Rnn layer{.hidden_size = outputs, .rnn_type = type};
    if (weights.size() > 2) {
      Node const bias = weights[2];
      // The file does not say reset_after, but the biases of a GRU without it are one list.
      layer.reset_after = type != RnnType::gru || bias.size() == 0 || bias[0].is_list();
      one.bias = keras::numbers(bias, keras::bias_shape(type, layer.reset_after, outputs));
    }
    set(name + "-0", keras::packed(type, {&one, 1}));
    layers_.add_layer({name, layer});
  }

  void prelu(std::string const& name, Node const& weights) {
    check_count(weights, 1, 1);
    Node const slopes = weights[0];  // {1, features}, or one for all of them
    if (slopes.size() != 1) slopes.expected("a list of 1");
    Index const count = slopes[0].size() == 1 ? 1 : features_;
    set(name + "-0", keras::numbers(slopes, {1, count}).values);
    layers_.add_layer({name, PReLU{.num_parameters = count, .axis = -1}});
  }

  /// The moving averages, after the factors and the summands if there are any. Those of batchnorm2d are one for each
  /// channel, of which a step has several features.
  void batchnorm(Node const& layer, std::string const& name, Node const& weights) {
    if (weights.size() != 2 && weights.size() != 4) weights.expected("a list of 2 or 4");
    Index const channels =
        layer["type"].text() == "batchnorm2d" ? last_integer(layer["num_filters_in"], max_features) : features_;
    if (features_ % channels != 0)
      layer["num_filters_in"].expected("channels that divide the " + std::to_string(features_) + " values of a step");
    constexpr std::array suffixes{"-0", "-0-bias", "-0-mean", "-0-variance"};
    std::size_t const first = suffixes.size() - weights.size();
    for (std::size_t i = 0; i < suffixes.size(); ++i) {
      auto values = i < first ? std::vector<float>(static_cast<std::size_t>(channels), i == 0 ? 1.0f : 0.0f)
                              : keras::numbers(weights[i - first], {channels}).values;
      set(name + suffixes[i], repeated(values, features_));
    }
    float const epsilon = layer.number("epsilon", 1e-3f);
    if (!(epsilon > 0)) layer["epsilon"].expected("a number above 0");
    layers_.add_layer({name, BatchNormalization{.epsilon = epsilon, .axis = -1}});
  }

  static std::vector<float> repeated(std::vector<float> const& values, Index count) {
    std::vector<float> all;
    while (static_cast<Index>(all.size()) < count) all.insert(all.end(), values.begin(), values.end());
    return all;
  }

  void activate(Node const& layer, std::string const& name, std::string const& type) {
    auto const given = layer.find_value("activation");
    std::string const activation = given ? given->text() : "";
    if (type == "gru" || type == "lstm") {  // RTNeural has no other
      if (!activation.empty() && activation != "tanh")
        given->refuse<UnsupportedError>("got \"" + activation + "\", expected \"tanh\"");
      return;
    }
    if (activation.empty()) return;
    bool const alone = type == "activation";
    if (type == "prelu" || type.starts_with("batchnorm"))
      given->refuse<UnsupportedError>("got \"" + activation + "\", expected none");
    auto const add = [&](auto op) { layers_.add_layer({alone ? name : name + ".activation", op}); };
    if (activation == "tanh") return add(TanH{});
    if (activation == "relu") return add(ReLU{});
    if (activation == "sigmoid") return add(Sigmoid{});
    if (activation == "softmax") return add(SoftmaxOver{.axis = -1});
    if (activation == "elu") return add(ELU{});
    given->refuse<UnsupportedError>("got " + json::described(given->json()) +
                                    ", expected \"tanh\", \"relu\", \"sigmoid\", \"softmax\" or \"elu\"");
  }

  Index features_, history_ = 0;
  dynamic::SequentialConfig layers_;
  Weights weights_;
};

/// Throws UnsupportedError with all layers of types that are not known.
void check_types(Node const& layers) {
  std::string unknown;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    Node const type = layers[i]["type"];
    std::string const name = type.text();
    if (name != "activation" && std::ranges::find(types, name) == types.end())
      unknown += (unknown.empty() ? "" : ", ") + type.path() + " " + json::described(type.json());
  }
  if (!unknown.empty()) throw UnsupportedError{"has layers of types that are not known: " + unknown};
}

}  // namespace

persist::Model read_rtneural(std::string const& path, RtneuralOptions const& options) {
  return with_file(path, [&] {
    Json const json = json::read_json(path);
    if (json.is_object() && json.contains("class_name")) {
      throw UnsupportedError{
          "is the description of a Keras model, without its weights; model.save(\"model.keras\") writes both"};
    }
    Node const file{json, ""}, layers = file["layers"];
    Index const features = features_of(file["in_shape"]);
    if (layers.size() < 1 || layers.size() > max_layers) layers.expected("a list of 1 to " + json::grouped(max_layers));
    check_types(layers);
    RTNeuralReader reader{features};
    for (std::size_t i = 0; i < layers.size(); ++i) reader.read(layers[i], "layer" + std::to_string(i));
    return reader.model(options.input, features);
  });
}

}  // namespace coldpress::convert
