// Models of amplifiers as text of .nam files, and what they make of a signal, computed sample by sample in plain loops
// from the description of the format: the independent side of the tests of read_nam and write_nam.
#pragma once

#include "convert/nam_pieces.hpp"

#include <optional>

namespace nam_test {

/// A FiLM at one place of all layers of an array.
struct Film {
  bool active = false, shift = true;
  int groups = 1;
};

/// An entry of a WaveNet's "layers" with all fields of version 0.7.
struct Array {
  int inputs = 1, condition = 1, channels = 2, bottleneck = 2, head = 1, head_taps = 1, head_dilation = 1;
  bool head_bias = true;
  std::vector<int> taps = {2, 3}, dilations = {1, 4};
  std::vector<Activation> activation = {tanh_, tanh_};
  std::vector<std::string> gating = {"none", "none"};
  std::vector<Activation> secondary = {sigmoid, sigmoid};
  int groups_input = 1, groups_mixin = 1;
  bool layer1x1 = true;
  int groups_layer1x1 = 1;
  int head1x1 = 0, groups_head1x1 = 1;  // channels; 0: none
  Film films[8] = {};

  std::string json() const {
    std::string const names[8] = {"conv_pre_film",         "conv_post_film",      "input_mixin_pre_film",
                                  "input_mixin_post_film", "activation_pre_film", "activation_post_film",
                                  "layer1x1_post_film",    "head1x1_post_film"};
    auto const number = [](int value) { return std::to_string(value); };
    auto const flag = [](bool value) { return std::string{value ? "true" : "false"}; };
    auto const list = [&](auto const& all, auto const& text) {
      std::string joined;
      for (auto const& one : all) joined += (joined.empty() ? "" : ", ") + text(one);
      return "[" + joined + "]";
    };
    auto const name = [](Activation const& one) { return one.json; };
    std::string text =
        "{\"input_size\": " + number(inputs) + ", \"condition_size\": " + number(condition) +
        ", \"channels\": " + number(channels) + ", \"bottleneck\": " + number(bottleneck) +
        ", \"head\": {\"out_channels\": " + number(head) + ", \"kernel_size\": " + number(head_taps) +
        ", \"bias\": " + flag(head_bias) + ", \"head_dilation\": " + number(head_dilation) +
        "}, \"kernel_sizes\": " + list(taps, number) + ", \"dilations\": " + list(dilations, number) +
        ", \"activation\": " + list(activation, name) +
        ", \"gating_mode\": " + list(gating, [](auto const& one) { return "\"" + one + "\""; }) +
        ", \"secondary_activation\": " + list(secondary, name) + ", \"groups_input\": " + number(groups_input) +
        ", \"groups_input_mixin\": " + number(groups_mixin) + ", \"layer1x1\": {\"active\": " + flag(layer1x1) +
        ", \"groups\": " + number(groups_layer1x1) + "}, \"head1x1\": {\"active\": " + flag(head1x1 > 0) +
        ", \"out_channels\": " + number(std::max(head1x1, 1)) + ", \"groups\": " + number(groups_head1x1) + "}";
    for (int p = 0; p < 8; ++p) {
      text += ", \"" + names[p] + "\": {\"active\": " + flag(films[p].active) + ", \"shift\": " + flag(films[p].shift) +
              ", \"groups\": " + number(films[p].groups) + "}";
    }
    return text + "}";
  }
};

struct Model {
  std::string text;  // of the file
  Frames y;          // what it makes of the signal
  std::size_t weights = 0;
};

inline std::string file(std::string const& architecture, std::string const& config, std::string const& weights,
                        std::string const& more = R"(, "sample_rate": 48000)") {
  return R"({"version": "0.7.0", "architecture": ")" + architecture + "\", \"config\": " + config +
         ", \"weights\": " + weights + more + "}";
}

struct Head {
  int channels = 2, outputs = 1;
  std::vector<int> taps = {2, 1};
  Activation activation = tanh_;
};

/// A WaveNet; every array adds to what the head of the one before it gives.
inline Model wavenet(std::vector<Array> const& arrays, Frames const& signal, unsigned seed,
                     std::optional<Model> const& condition = {}, std::optional<Head> const& head = {}) {
  Numbers numbers{seed};
  Frames const cond = condition ? condition->y : signal;
  Frames value = signal, last_head;
  std::string layers;
  for (Array const& a : arrays) {
    layers += (layers.empty() ? "" : ", ") + a.json();
    value = convolution(numbers, a.inputs, a.channels, 1, 1, 1, false)(value);
    Frames accumulated = last_head;
    for (std::size_t l = 0; l < a.taps.size(); ++l) {
      bool const gated = a.gating[l] != "none";
      int const sums = gated ? 2 * a.bottleneck : a.bottleneck, skips = a.head1x1 ? a.head1x1 : a.bottleneck;
      auto const conv = convolution(numbers, a.channels, sums, a.taps[l], a.dilations[l], a.groups_input, true);
      auto const mixin = convolution(numbers, a.condition, sums, 1, 1, a.groups_mixin, false);
      std::function<Frames(Frames const&)> residual, skip;
      if (a.layer1x1) residual = convolution(numbers, a.bottleneck, a.channels, 1, 1, a.groups_layer1x1, true);
      if (a.head1x1) skip = convolution(numbers, a.bottleneck, a.head1x1, 1, 1, a.groups_head1x1, true);
      int const dimensions[8] = {a.channels, sums, a.condition, sums, sums, a.bottleneck, a.channels, skips};
      std::vector<std::function<Frames(Frames const&)>> films(8);
      for (std::size_t p = 0; p < 8; ++p) {
        Film const& film = a.films[p];
        int const dimension = dimensions[p];
        films[p] = [](Frames const& x) { return x; };
        if (!film.active) continue;
        auto const made = convolution(numbers, a.condition, (film.shift ? 2 : 1) * dimension, 1, 1, film.groups, true);
        films[p] = [made, cond, film, dimension](Frames const& x) {
          auto const count = static_cast<std::size_t>(dimension);
          Frames const all = made(cond);
          Frames const y = both(x, channels(all, 0, count), [](double u, double scale) { return u * scale; });
          return film.shift ? sum(y, channels(all, count, count)) : y;
        };
      }
      Frames const before = films[4](sum(films[1](conv(films[0](value))), films[3](mixin(films[2](cond)))));
      Frames y = before;
      if (!gated) y = a.activation[l](before);
      if (gated) {
        auto const count = static_cast<std::size_t>(a.bottleneck);
        Frames const first = channels(before, 0, count), second = a.secondary[l](channels(before, count, count));
        y = both(a.activation[l](first), second, [](double u, double gate) { return u * gate; });
        if (a.gating[l] == "blended")
          y = sum(y, both(first, second, [](double u, double gate) { return u * (1 - gate); }));
      }
      y = films[5](y);
      Frames const given = skip ? films[7](skip(y)) : y;
      accumulated = accumulated.empty() ? given : sum(accumulated, given);
      // The player for which the format was made applies this FiLM where a layer is blended.
      if (residual) value = sum(value, a.gating[l] == "blended" ? films[6](residual(y)) : residual(y));
    }
    last_head = convolution(numbers, a.head1x1 ? a.head1x1 : a.bottleneck, a.head, a.head_taps, a.head_dilation, 1,
                            a.head_bias)(accumulated);
  }
  std::vector<std::function<Frames(Frames const&)>> heads;
  int inputs = arrays.back().head;
  for (std::size_t i = 0; head && i < head->taps.size(); ++i) {
    int const outputs = i + 1 == head->taps.size() ? head->outputs : head->channels;
    heads.push_back(convolution(numbers, inputs, outputs, head->taps[i], 1, 1, true));
    inputs = outputs;
  }
  double const scale = numbers.next();
  Frames y = each(last_head, [&](double x) { return scale * x; });
  for (auto const& conv : heads) y = conv(head->activation(y));
  std::string config = "{\"layers\": [" + layers + "], \"head_scale\": 0.02, \"head\": ";
  if (head) {
    std::string taps;
    for (int const count : head->taps) taps += (taps.empty() ? "" : ", ") + std::to_string(count);
    config += "{\"channels\": " + std::to_string(head->channels) +
              ", \"out_channels\": " + std::to_string(head->outputs) + ", \"kernel_sizes\": [" + taps +
              "], \"activation\": " + head->activation.json + "}";
  } else {
    config += "null";
  }
  if (condition) config += ", \"condition_dsp\": " + condition->text;
  return {file("WaveNet", config + "}", numbers.text()), y, numbers.count()};
}

/// An LSTM of the format, whose states start at zero here and at the numbers of the file in the text.
inline Model lstm(int hidden, int layers, Frames const& signal, unsigned seed, bool zero_states = true) {
  Numbers numbers{seed};
  Frames value = signal;
  for (int layer = 0; layer < layers; ++layer) {
    int const inputs = layer == 0 ? 1 : hidden;
    auto const weights = numbers.next(4 * hidden * (inputs + hidden));
    auto const biases = numbers.next(4 * hidden);
    for (int i = 0; i < 2 * hidden; ++i) zero_states ? numbers.given(0) : numbers.next();
    std::vector<double> h(static_cast<std::size_t>(hidden)), c = h;
    Frames y;
    for (auto const& x : value) {
      std::vector<double> sums = biases;
      for (std::size_t row = 0; row < sums.size(); ++row) {
        double const* const w = &weights[row * static_cast<std::size_t>(inputs + hidden)];
        for (std::size_t i = 0; i < x.size(); ++i) sums[row] += w[i] * x[i];
        for (std::size_t i = 0; i < h.size(); ++i) sums[row] += w[x.size() + i] * h[i];
      }
      for (std::size_t u = 0; u < h.size(); ++u) {
        double const in = logistic(sums[u]), forget = logistic(sums[h.size() + u]),
                     cell = std::tanh(sums[2 * h.size() + u]), out = logistic(sums[3 * h.size() + u]);
        c[u] = forget * c[u] + in * cell;
        h[u] = out * std::tanh(c[u]);
      }
      y.push_back(h);
    }
    value = y;
  }
  value = convolution(numbers, hidden, 1, 1, 1, 1, true)(value);
  return {file("LSTM",
               "{\"input_size\": 1, \"hidden_size\": " + std::to_string(hidden) +
                   ", \"num_layers\": " + std::to_string(layers) + "}",
               numbers.text()),
          value, numbers.count()};
}

inline Model convnet(bool batchnorm, Frames const& signal, unsigned seed) {
  Numbers numbers{seed};
  Frames value = signal;
  int const count = 3;
  int inputs = 1;
  for (int const dilation : {1, 3}) {
    value = convolution(numbers, inputs, count, 2, dilation, 1, !batchnorm)(value);
    inputs = count;
    if (batchnorm) {
      auto const mean = numbers.next(3);
      std::vector<double> variance;
      for (int c = 0; c < 3; ++c) variance.push_back(numbers.given(0.25 * (c + 1)));
      auto const weight = numbers.next(3), bias = numbers.next(3);
      double const epsilon = numbers.given(0.0078125);
      for (auto& sample : value) {
        for (std::size_t c = 0; c < 3; ++c)
          sample[c] = (sample[c] - mean[c]) / std::sqrt(variance[c] + epsilon) * weight[c] + bias[c];
      }
    }
    value = tanh_(value);
  }
  value = convolution(numbers, count, 1, 1, 1, 1, true)(value);
  return {file("ConvNet",
               std::string{"{\"channels\": 3, \"dilations\": [1, 3], \"batchnorm\": "} +
                   (batchnorm ? "true" : "false") + ", \"activation\": \"Tanh\"}",
               numbers.text()),
          value, numbers.count()};
}

/// A finite impulse response, whose first number is for the newest sample.
inline Model linear(Frames const& signal, unsigned seed) {
  Numbers numbers{seed};
  auto const response = numbers.next(5);
  double const bias = numbers.next();
  Frames y;
  for (std::size_t t = 0; t < signal.size(); ++t) {
    double value = bias;
    for (std::size_t k = 0; k < response.size() && k <= t; ++k) value += response[k] * signal[t - k][0];
    y.push_back({value});
  }
  return {file("Linear", R"({"receptive_field": 5, "bias": true})", numbers.text()), y, numbers.count()};
}

}  // namespace nam_test
