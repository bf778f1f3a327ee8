// Random networks of layers in a row, all that a backend computes of one, and how far two are from each other.
#pragma once

#include "dynamic/tensors.hpp"

namespace coldpress::test {

/// Layers of a random network: kinds, sizes and shapes.
struct RandomNetwork {
  std::vector<LayerConfig> layers;
  Shape input;
  Shape output;
  Index longest = 1;  // terms of a sum
  Index places = 1;   // where a sample uses a weight
  bool trainable = false;
  bool scores = false;  // the last layer makes log-probabilities

  explicit RandomNetwork(Random& random) {
    static int number = 0;
    input = output = law_shape(number++, 60);
    auto const count = random.integer(1, 12);
    for (Index i = 0; i < count; ++i) add(random);
  }
  LayerConfig config() const { return sequential(layers, input); }

 private:
  void add(Random& random) {
    std::string const name = "layer" + std::to_string(layers.size());
    Index const size = output.size();
    longest = std::max(longest, size);
    scores = false;
    auto const push = [&](dynamic::LayerType type) { layers.emplace_back(name, std::move(type)); };
    switch (random.integer(0, 20)) {
      case 0:
        return push(ReLU{});
      case 1:
        return push(TanH{});
      case 2:
        return push(Sigmoid{});
      case 3:
        return push(Dropout{.probability = random.uniform(0.0f, 0.6f)});
      case 4:
        output = {size};
        return push(Flatten{});
      case 5: {
        Index const rows = size % 2 == 0 ? 2 : size % 3 == 0 ? 3 : 1;
        output = {rows, size / rows};
        return push(Reshape{output});
      }
      case 6:
        return push(Softmax{});
      case 8:
        if (output.rank() == 3) {
          Pooling const pooling{.mode = random.integer(0, 1) == 0 ? PoolingMode::max : PoolingMode::average,
                                .filter_shape = {random.integer(1, output[1]), random.integer(1, output[2])},
                                .stride = {random.integer(1, 3), random.integer(1, 3)},
                                .rounding = random.integer(0, 1) == 0 ? Rounding::floor : Rounding::ceil};
          output = pooling.output_shape(output);
          return push(pooling);
        }
        [[fallthrough]];
      case 9:
      case 10: {
        Index const groups = output[output.rank() < 3 ? output.rank() - 1 : 0] % 2 == 0 ? random.integer(1, 2) : 1;
        bool const image = output.rank() == 3;
        Convolution convolution{.num_output = groups * random.integer(1, 9),
                                .filter_shape = random.integer(1, 4),
                                .stride = random.integer(1, 2),
                                .padding = image ? PerAxis{random.integer(2, 4), random.integer(2, 3)} : PerAxis{0},
                                .groups = groups,
                                .has_bias = random.integer(0, 3) > 0};
        longest = std::max(longest, convolution.parameters(output)[0].shape.size());
        output = convolution.output_shape(output);
        longest = std::max(longest, output.size());
        places = std::max(places, output.size() / convolution.num_output);
        trainable = true;
        return push(convolution);
      }
      case 7:
        scores = true;
        return push(LogSoftmax{});
      case 11:
      case 12:
        return add_recurrent(random, name);
      case 13:
      case 14:
      case 15:
      case 16:
        return add_along(random, name);
      default:
        output = {random.integer(1, 70)};
        longest = std::max(longest, output.size());
        trainable = true;
        return push(Linear{output.size()});
    }
  }
  void add_along(Random& random, std::string const& name) {
    int const axis = static_cast<int>(random.integer(-output.rank(), output.rank() - 1));
    Index const extent = output[axis_of(output, axis)];
    bool const image = output.rank() == 3, chance = random.integer(0, 1) == 0;
    auto const push = [&](auto layer) {
      output = layer.output_shape(output);
      layers.emplace_back(name, layer);
    };
    switch (random.integer(0, 7)) {
      case 0:
        return push(Slice{.axis = axis, .begin = static_cast<int>(random.integer(0, extent - 1))});
      case 1:
        return push(Reduce{.operation = chance ? ReduceOperation::sum : ReduceOperation::mean, .axis = axis});
      case 2:
        return push(SoftmaxOver{.axis = axis, .logarithm = chance});
      case 3:
        places = std::max(places, output.size());
        trainable = true;
        // Of weights that differ: else a mean of its values is 0, and rounding decides on which side of a kink.
        return push(LayerNormalization{.epsilon = 0.1f, .weight = Gaussian{}, .bias = Gaussian{}});
      case 4:
        return push(LRN{.size = 3, .mode = image && chance ? LRNMode::within : LRNMode::across});
      case 5:
        return push(ChannelPooling{.mode = chance ? PoolingMode::max : PoolingMode::average,
                                   .filter_size = random.integer(1, extent),
                                   .stride = random.integer(1, 3),
                                   .axis = axis});
      case 6:
        if (image)
          return push(Crop{.size = {random.integer(1, output[1]), random.integer(1, output[2])},
                           .random_crop = true,
                           .random_mirror = chance});
        [[fallthrough]];
      default:
        return push(GlobalAveragePooling{});
    }
  }
  void add_recurrent(Random& random, std::string const& name) {
    Index const steps = output.size() % 3 == 0 ? 3 : 1;
    if (output.rank() != 2) {
      output = {steps, output.size() / steps};
      layers.emplace_back(name + "steps", Reshape{output});
    }
    Rnn layer{.hidden_size = random.integer(1, 20),
              .num_layers = random.integer(1, 2),
              .rnn_type = static_cast<RnnType>(random.integer(0, 3)),
              .dropout_probability = random.integer(0, 2) == 0 ? 0.3f : 0,
              .direction_mode = static_cast<DirectionMode>(random.integer(0, 1)),
              .output = static_cast<RnnOutput>(random.integer(0, 2)),
              .truncation = static_cast<std::uint64_t>(random.integer(0, 2))};
    layer.reset_after = layer.rnn_type != RnnType::gru || layer.hidden_size % 2 == 0;
    if (random.integer(0, 3) == 0) layer.input_mode = InputMode::skip_input, layer.hidden_size = output[1];
    longest = std::max(longest, output[0] * 4 * layer.hidden_size * 2);
    output = output_shape_of(layer, {&output, 1});
    trainable = true;
    layers.emplace_back(name, layer);
  }
};

/// The difference as a multiple of 8 eps sqrt(terms) of the largest value; of 1/100 where all are smaller.
inline double distance(Floats const& a, Floats const& b, Index terms) {
  double most = 0, largest = 0.01;
  for (std::size_t i = 0; i < b.size(); ++i) {
    double const d = std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
    most = d <= most ? most : d;  // NaN stays
    largest = std::max(largest, std::abs(static_cast<double>(b[i])));
  }
  return a.size() != b.size() ? 1e9 : most / (8 * 0x1p-24 * std::sqrt(static_cast<double>(terms)) * largest);
}

/// All that a network computes: forward, backward, and some steps of training.
struct Trace {
  Floats output, input_gradient, gradients, inference, losses, trained;

  Trace(std::string const& backend, RandomNetwork const& network, std::uint64_t seed, Index batch)
      : Trace(Backend{backend}, network, seed, batch) {}
  Trace(Backend const& backend, RandomNetwork const& network, std::uint64_t seed, Index batch) {
    Net net = started(backend, network, seed);
    Index const in = network.input.size(), out = network.output.size();
    REQUIRE(net.output_shape() == network.output);
    SharedTensor const x = noise({batch, in}, seed), dy = noise({batch, out}, seed + 1);
    output = values_of(net.forward(x));
    input_gradient = values_of(net.backward(dy));
    gradients = gradients_of(net);
    net.set_mode(Mode::inference);
    inference = values_of(net.forward(x));
    if (!network.trainable) return;
    // With 0.001, one of the networks of large minibatches diverges.
    SolverConfig config{.base_lr = batch > 9 ? 0.0001f : 0.001f, .momentum = 0.5f};
    config.objective =
        network.scores ? LayerConfig{"loss", NegativeLogLikelihood{out}} : LayerConfig{"loss", MeanSquaredError{}};
    if (seed % 3 == 0) config.clip_gradients = 0.1f;
    Trainer solver{started(backend, network, seed), config};
    Random random{seed + 2};
    for (std::uint64_t step = 0; step < 4; ++step) {
      Index const n = step == 3 ? 1 : batch;
      Floats labels;
      for (Index i = 0; i < n; ++i) labels.push_back(static_cast<float>(random.integer(0, out - 1)));
      SharedTensor const targets = network.scores ? tensor({n}, labels) : noise({n, out}, seed + step);
      Floats const y = values_of(solver.train_minibatch(noise({n, in}, seed + 10 + step), targets));
      losses.push_back(solver.loss());
      trained.insert(trained.end(), y.begin(), y.end());
    }
    Floats const weights = weights_of(solver.network());
    trained.insert(trained.end(), weights.begin(), weights.end());
  }

 private:
  /// With biases that are not 0: with zeros, a ReLU after values that are all 0 is at its kink, where backends may have
  /// different derivatives.
  static Net started(Backend const& backend, RandomNetwork const& network, std::uint64_t seed) {
    Net net = Net::from_config(backend, network.config(), {}, seed);
    Random random{seed + 3};
    for (std::size_t w = 0; w < net.learnable_weights_data().size(); ++w) {
      for (float& weight : net.learnable_weights_data()[w].read_write())
        if (weight == 0) weight = random.uniform(-0.2f, 0.2f);
    }
    return net;
  }
};

/// How far one is from the other at most; `layers` roundings follow each other.
inline double distance(Trace const& a, Trace const& b, RandomNetwork const& network, Index batch) {
  // A gradient of a shared weight is a sum over places, of terms that nearly cancel out after a softmax.
  Index const terms = std::max(network.longest, batch) * network.places;
  double most = 0;
  for (auto member : {&Trace::output, &Trace::input_gradient, &Trace::gradients, &Trace::inference, &Trace::losses,
                      &Trace::trained}) {
    most = std::max(most, distance(a.*member, b.*member, terms));
  }
  return most / static_cast<double>(1 + network.layers.size());
}

}  // namespace coldpress::test
