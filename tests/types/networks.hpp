// Configs of many kinds of layers, losses and statistics with other fields than their defaults, and some with names
// that C++ does not like. models.cpp adds networks of those that have no place here.
#pragma once

#include <coldpress/dynamic.hpp>

#include <string>
#include <vector>

namespace coldpress::test {

struct NamedNetwork {
  std::string name;
  dynamic::LayerConfig config;
};

/// Puts layers together. Each is called after its type and number unless it is given a name.
class Wiring {
 public:
  explicit Wiring(std::string name) : name_(std::move(name)) {}

  std::string input(std::string const& name, Shape shape) {
    layers_.add_input(name, shape);
    return last_ = name;
  }
  /// A layer that reads the last value.
  std::string then(dynamic::LayerType const& layer, std::string const& name = {}) { return add(layer, {last_}, name); }
  std::string add(dynamic::LayerType const& layer, std::vector<std::string> inputs, std::string const& name = {}) {
    std::string const own =
        name.empty() ? dynamic::type_name(layer) + "_" + std::to_string(layers_.layers.size()) : name;
    dynamic::LayerConfig config{own, layer};
    config.inputs = std::move(inputs);
    bool const observes = std::visit(
        [](auto const& type) {
          using L = std::remove_cvref_t<decltype(type)>;
          return Loss<L> || Statistic<L>;
        },
        layer);
    if (!observes) config.outputs = {last_ = own};
    layers_.add_layer(std::move(config));
    return own;
  }
  dynamic::LayerConfig& last_layer() { return layers_.layers.back(); }
  std::string const& last() const { return last_; }
  NamedNetwork network(std::vector<std::string> outputs = {}) const {
    dynamic::LayerConfig config{name_, layers_};
    config.outputs = outputs.empty() ? std::vector{last_} : std::move(outputs);
    return {name_, std::move(config)};
  }

 private:
  std::string name_, last_;
  dynamic::SequentialConfig layers_;
};

inline NamedNetwork pointwise() {
  Wiring net{"pointwise"};
  net.input("data", {12});
  net.then(Linear{.output_size = 12, .weight = Gaussian{.deviation = 0.3f}, .bias = Constant{0.1f}}, "fc1");
  for (dynamic::LayerType const& layer : std::vector<dynamic::LayerType>{
           TanH{},
           Exponential{},
           Power{.power = 2, .scale = 0.5f, .shift = 0.1f},
           LeakyReLU{.slope = 0.3f},
           ReLU{},
           GELU{.approximate = true},
           SiLU{},
           Softplus{.beta = 2},
           ELU{.alpha = 0.3f},
           HardTanh{.min_val = -0.7f, .max_val = 0.9f},
           LeakyHardTanh{.min_val = -0.2f, .max_val = 0.8f, .min_slope = 0.1f, .max_slope = 0.2f},
           HardSwish{},
           Mish{},
           Softsign{},
           HardSigmoid{.alpha = 0.2f, .beta = 0.4f},
           LogSigmoid{},
           Clip{.min = -5, .max = 0.3f},
           Sigmoid{},
           Dropout{.probability = 0.25f, .seed = 9},
           RandomMask{.probability = 0.2f, .seed = 1},
           Flatten{},
           Reshape{.shape = {3, 4}},
           LogSoftmax{},
           Softmax{},
           Threshold{.epsilon = 0.08f}})
    net.then(layer);
  return net.network();
}

inline NamedNetwork images() {
  Wiring net{"images"};
  net.input("image", {3, 12, 10});
  net.then(Convolution{.num_output = 6,
                       .filter_shape = {3, 2},
                       .stride = {1, 2},
                       .padding = {2, 0},
                       .padding_after = {1, 0},
                       .dilation = {2, 1},
                       .groups = 3,
                       .has_bias = false,
                       .weight = {.filler = Orthogonal{.gain = 0.5f}, .lr_mult = 2}},
           "Conv2D/1");
  net.then(BatchNormalization{.epsilon = 1e-3f, .momentum = 0.2f}, "bn.1");
  net.then(PReLU{.num_parameters = 6, .weight = Constant{0.125f}}, "relu1");
  net.then(ReLU{});  // would be called relu1 if it had no name
  net.then(Pooling{.mode = PoolingMode::average,
                   .filter_shape = {3, 2},
                   .padding = 1,
                   .rounding = Rounding::ceil,
                   .count_padding = true});
  net.then(LRN{.size = 3, .scale = 0.1f, .power = 0.5f, .mode = LRNMode::within});
  net.then(GroupNormalization{.groups = 2, .epsilon = 1e-4f}, "group norm");
  net.then(Glu{.gate = GluGate::silu, .axis = 0});
  net.then(ChannelPooling{.mode = PoolingMode::average, .filter_size = 2});
  net.then(ConvolutionTranspose{.num_output = 2, .filter_shape = 3, .stride = 2, .padding = 1, .output_padding = 1},
           "up");
  std::string const image = net.then(Pad{.mode = PadMode::reflect, .before = {1, 0}, .after = {0, 2}});
  net.then(Resize{.mode = ResizeMode::linear, .factor = {2, 1}});
  net.then(Crop{.size = {9, 8}, .random_mirror = true, .seed = 3});
  net.then(Permute{.axes = {1, 2, 0}});
  std::string const scores = net.then(Linear{.output_size = 4, .has_bias = false}, "scores");
  net.add(GlobalAveragePooling{}, {image}, "means");
  return net.network({scores, "means"});
}

inline NamedNetwork sequences() {
  Wiring net{"sequences"};
  net.input("labels", {6});
  net.then(Embedding{.vocabulary = 5, .features = 8, .weight = Gaussian{.deviation = 0.5f}});
  net.then(LearnedPositions{.most = 9});
  net.then(SinusoidalPositions{.base = 100});
  std::string const x = net.then(LayerNormalization{.epsilon = 1e-3f}, "norm");
  net.then(Linear{.output_size = 24, .last_axis = true}, "in_proj");
  net.then(RotaryPositions{.size = 4, .heads = 4, .rotated = 2, .base = 100, .interleaved = true});
  net.then(ScaledDotProductAttention{.heads = 2, .causal = true, .window = 3, .scale = 0.4f});
  net.add(Add{}, {x, net.last()});
  std::string const y = net.then(RMSNormalization{.epsilon = 1e-4f, .weight = {.decay_mult = 0}}, "rms");
  net.then(Rnn{.hidden_size = 5,
               .num_layers = 2,
               .rnn_type = RnnType::gru,
               .dropout_probability = 0.25f,
               .dropout_seed = 3,
               .direction_mode = DirectionMode::bi_directional,
               .weight = Gaussian{.deviation = 0.3f}},
           "gru");
  net.then(Convolution{.num_output = 4, .filter_shape = 3, .same = true, .causal = false, .dilation = 2}, "conv");
  std::string const z = net.then(SoftmaxOver{.axis = 1, .logarithm = true});
  net.add(TopK{.k = 3, .axis = 1}, {z});
  std::string const largest = net.then(Reduce{.operation = ReduceOperation::max, .axis = 1});
  net.add(Rnn{.hidden_size = 8, .rnn_type = RnnType::tanh, .input_mode = InputMode::skip_input, .truncation = 4}, {y},
          "rnn");
  std::string const slice = net.then(Slice{.axis = 0, .begin = 2, .end = 5});
  std::string const taken = net.add(Gather{}, {z, net.add(Argmax{.axis = 1}, {z})});
  return net.network({largest, net.add(Flatten{}, {taken}), slice});
}

inline NamedNetwork joins() {
  Wiring net{"joins"};
  std::string const a = net.input("a", {4, 3}), b = net.input("b", {4, 3}), label = net.input("label", {1});
  std::string const both = net.add(Concat{.axis = -1}, {a, b, a}), high = net.add(Max{}, {a, b}),
                    low = net.add(Min{}, {a, b});
  net.add(Subtract{}, {high, low});
  std::string const ratio = net.add(Divide{}, {net.last(), net.then(Exponential{})});
  std::string const chosen = net.add(Where{}, {net.add(Threshold{}, {a}), b, ratio});
  net.add(MatMul{.transpose = true, .scale = 0.5f}, {chosen, a});
  net.then(Expand{.shape = {2, 4, 4}});
  std::string const product = net.then(Reduce{.operation = ReduceOperation::mean});
  net.add(Onehot{.num_classes = 3}, {label});
  net.add(Expand{.shape = {4, 3}}, {net.last()});
  net.add(Multiply{}, {net.last(), net.add(RandomNormal{.shape = {4, 3}, .seed = 8}, {})});
  net.then(Split{});
  net.then(Linear{.output_size = 5}, "encode");
  net.last_layer().params = {{.name = "matrix"}};
  net.then(TanH{});
  net.then(TiedLinear{.output_size = 12, .bias = Constant{0.5f}}, "decode");
  net.last_layer().params = {{.name = "matrix"}, {.name = "own"}};
  std::string const decoded = net.last();
  for (std::string const name : {"once", "twice", "thrice"}) {  // with the same weights
    net.add(Linear{.output_size = 16, .bias = Constant{0.25f}}, {name == "once" ? product : net.then(TanH{})}, name);
    net.last_layer().params = {{.name = "w"}};
  }
  return net.network({both, decoded, net.last(), product});
}

inline NamedNetwork losses() {
  Wiring net{"losses"};
  std::string const x = net.input("x", {8}), label = net.input("label", {1}), target = net.input("target", {8}),
                    signal = net.input("signal", {64}), anchor = net.input("anchor", {4}),
                    words = net.input("labels", {3});
  std::string const y = net.add(Linear{.output_size = 8}, {x}, "y");
  std::string const logs = net.then(LogSoftmax{}), p = net.add(Softmax{}, {y});
  net.add(NegativeLogLikelihood{.num_classes = 8, .loss_weight = 2}, {logs, label});
  net.add(MultinomialLogistic{.loss_weight = 0.5f, .ignore_index = 7}, {p, label}, "multinomial");
  net.add(SoftmaxLoss{.class_weights = {1, 2, 3, 4, 5, 6, 7, 0.1f}, .label_smoothing = 0.1f}, {y, label});
  net.add(FocalLoss{.gamma = 0.5f, .normalize = ClassNormalization::none}, {y, label});
  net.add(SoftlabelSoftmax{.loss_weight = 0.3f}, {y, target});
  net.add(MeanSquaredError{.loss_average = Average::values}, {y, target});
  net.add(BinaryCrossEntropy{.loss_weight = 0.3f}, {p, target});
  net.add(Hinge{.loss_weight = 0.3f}, {y, target});
  net.add(GaussianKL{.loss_weight = 0.3f}, {y, p});
  net.add(Wasserstein{.lambda = 3, .iterations = 5, .power = 2}, {p, target});
  net.add(ErrorToSignalRatio{.pre_emphasis = 0.85f, .epsilon = 1e-5f}, {y, target});
  net.add(Huber{.delta = 0.3f}, {y, target});
  net.add(KLDivergence{.loss_weight = 0.3f}, {logs, target});
  net.add(CosineSimilarityLoss{.loss_weight = 0.3f}, {y, target});
  net.add(TripletMargin{.margin = 0.3f}, {y, anchor});
  net.add(Accuracy{.report_error = true}, {y, label}, "error rate");
  net.add(BinaryAccuracy{.threshold = 0.5f}, {p, target});
  net.add(Linear{.output_size = 64}, {y}, "sound");
  net.add(StftLoss{.fft_size = {16, 32}, .hop_size = 8, .window_size = {16, 20}, .magnitude = 2}, {net.last(), signal});
  net.add(Linear{.output_size = 24}, {y}, "letters");
  net.then(Reshape{.shape = {6, 4}});
  net.then(SoftmaxOver{.axis = -1, .logarithm = true});
  net.add(CTCLoss{.labels = 3, .blank = 3, .loss_weight = 0.1f}, {net.last(), words});
  return net.network({y});
}

/// Names that are words of C++, equal once they are C++ names, or meant to end a text or a comment; and what configs
/// say of weights beside the layers' own fields.
inline NamedNetwork names() {
  Wiring net{"names"};
  net.input("class", {6});
  std::vector<std::string> branches;
  for (std::string const name :
       {"class", "this->x",          "this.x", "this/x", "apply",   "name",     "Linear", "\xc3\xbc", "3",
        "\"};",  "*/ int main() {}", "\\",     "?\?/",   "linear2", "__FILE__", "errno",  "%s %n",    "${HOME}",
        "R\"(",  "\xf0\x9f\x8e\xb8"}) {
    net.add(Linear{.output_size = 3}, {branches.empty() ? "class" : branches[0]}, name);
    if (branches.empty()) {
      net.last_layer().params = {{.filler = Gaussian{.mean = 0.1f, .deviation = 1e-3f}, .lr_mult = 0.5f},
                                 {.max_norm = MaxNorm{.norm = 3}}};
    }
    branches.push_back(net.last());
  }
  std::string const long_name = "a.name.of.more.than.forty-seven.characters.\\\"has.no.room\\";
  net.then(ReLU{});
  branches.push_back(net.then(BatchNormalization{}, long_name));
  std::string sum = branches[1];
  for (std::size_t i = 2; i < branches.size(); ++i) sum = net.add(Add{}, {sum, branches[i]});
  return net.network();
}

/// Three hundred layers, one after the other.
inline NamedNetwork deep() {
  Wiring net{"deep"};
  net.input("x", {2});
  for (int i = 0; i < 150; ++i) net.then(Linear{.output_size = 2}), net.then(TanH{});
  return net.network();
}

inline std::vector<NamedNetwork> networks() {
  return {pointwise(), images(), sequences(), joins(), losses(), names(), deep()};
}

}  // namespace coldpress::test
