// What models of amplifiers are made of, computed sample by sample in plain loops from the description of the format.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

namespace nam_test {

using Frames = std::vector<std::vector<double>>;  // [sample][channel]
using Function = std::function<double(double)>;

/// Numbers between -0.5 and 0.5 that look random, given one after the other, and the list of all that were given.
class Numbers {
 public:
  explicit Numbers(unsigned seed) : state_(seed) {}
  double next() {
    state_ = state_ * 1664525u + 1013904223u;
    double const number = static_cast<double>(static_cast<int>(state_ >> 16) - 32768) / 65536;
    return given(number);
  }
  std::vector<double> next(int count) {
    std::vector<double> numbers;
    for (int i = 0; i < count; ++i) numbers.push_back(next());
    return numbers;
  }
  double given(double number) {
    all_.push_back(number);
    return number;
  }
  std::string text() const {
    std::string text = "[";
    char buffer[40];
    for (std::size_t i = 0; i < all_.size(); ++i) {
      std::snprintf(buffer, sizeof buffer, "%s%.9g", i ? ", " : "", all_[i]);
      text += buffer;
    }
    return text + "]";
  }
  std::size_t count() const { return all_.size(); }

 private:
  unsigned state_;
  std::vector<double> all_;
};

inline Frames noise(std::size_t samples, unsigned seed = 9) {
  Numbers numbers{seed};
  Frames signal;
  for (std::size_t t = 0; t < samples; ++t) signal.push_back({2 * numbers.next()});
  return signal;
}

/// A causal convolution with the weights that come next: for each output and input of its group the taps, the oldest
/// first; then the biases. Before the first sample there are zeros.
inline std::function<Frames(Frames const&)> convolution(Numbers& numbers, int inputs, int outputs, int taps,
                                                        int dilation, int groups, bool bias) {
  auto const weights = numbers.next(outputs * (inputs / groups) * taps);
  auto const biases = bias ? numbers.next(outputs) : std::vector<double>(static_cast<std::size_t>(outputs));
  return [=](Frames const& x) {
    Frames y(x.size(), std::vector<double>(static_cast<std::size_t>(outputs)));
    int const in = inputs / groups, out = outputs / groups;
    for (int t = 0; t < static_cast<int>(x.size()); ++t) {
      for (int o = 0; o < outputs; ++o) {
        double sum = biases[static_cast<std::size_t>(o)];
        for (int i = 0; i < in; ++i) {
          for (int k = 0; k < taps; ++k) {
            int const from = t - (taps - 1 - k) * dilation;
            if (from < 0) continue;
            sum += weights[static_cast<std::size_t>((o * in + i) * taps + k)] *
                   x[static_cast<std::size_t>(from)][static_cast<std::size_t>(o / out * in + i)];
          }
        }
        y[static_cast<std::size_t>(t)][static_cast<std::size_t>(o)] = sum;
      }
    }
    return y;
  };
}

inline Frames each(Frames x, Function const& f) {
  for (auto& sample : x) {
    for (double& value : sample) value = f(value);
  }
  return x;
}
inline Frames both(Frames a, Frames const& b, std::function<double(double, double)> const& f) {
  for (std::size_t t = 0; t < a.size(); ++t) {
    for (std::size_t c = 0; c < a[t].size(); ++c) a[t][c] = f(a[t][c], b[t][c]);
  }
  return a;
}
inline Frames sum(Frames const& a, Frames const& b) {
  return both(a, b, [](double x, double y) { return x + y; });
}
inline Frames channels(Frames const& x, std::size_t first, std::size_t count) {
  Frames part;
  for (auto const& sample : x) {
    auto const begin = sample.begin() + static_cast<std::ptrdiff_t>(first);
    part.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(count));
  }
  return part;
}

/// An activation of the format: its JSON, and what it computes for a channel.
struct Activation {
  std::string json;
  std::function<double(double, std::size_t)> f;
  Frames operator()(Frames x) const {
    for (auto& sample : x) {
      for (std::size_t c = 0; c < sample.size(); ++c) sample[c] = f(sample[c], c);
    }
    return x;
  }
};
inline double logistic(double x) { return 1 / (1 + std::exp(-x)); }
inline Activation const tanh_{"\"Tanh\"", [](double x, std::size_t) { return std::tanh(x); }};
inline Activation const sigmoid{"\"Sigmoid\"", [](double x, std::size_t) { return logistic(x); }};
/// All activations, for two channels.
inline std::vector<Activation> activations() {
  return {
      tanh_,
      sigmoid,
      {"\"Fasttanh\"", tanh_.f},
      {"\"ReLU\"", [](double x, std::size_t) { return std::max(x, 0.0); }},
      {"{\"type\": \"ReLU\"}", [](double x, std::size_t) { return std::max(x, 0.0); }},
      {"\"SiLU\"", [](double x, std::size_t) { return x * logistic(x); }},
      {"\"Hardtanh\"", [](double x, std::size_t) { return std::min(std::max(x, -1.0), 1.0); }},
      {"\"Hardswish\"", [](double x, std::size_t) { return x * std::min(std::max(x + 3, 0.0), 6.0) / 6; }},
      {"\"Softsign\"", [](double x, std::size_t) { return x / (1 + std::abs(x)); }},
      {"\"LeakyReLU\"", [](double x, std::size_t) { return x > 0 ? x : 0.01 * x; }},
      {R"({"type": "LeakyReLU", "negative_slope": 0.25})", [](double x, std::size_t) { return x > 0 ? x : 0.25 * x; }},
      {R"({"type": "LeakyReLU", "negative_slope": -0.5})", [](double x, std::size_t) { return x > 0 ? x : -0.5 * x; }},
      {R"({"type": "PReLU", "negative_slope": 0.125})", [](double x, std::size_t) { return x > 0 ? x : 0.125 * x; }},
      {R"({"type": "PReLU", "negative_slopes": [0.5]})", [](double x, std::size_t) { return x > 0 ? x : 0.5 * x; }},
      {R"({"type": "PReLU", "negative_slopes": [0.5, -0.25]})",
       [](double x, std::size_t c) { return x > 0 ? x : (c == 0 ? 0.5 : -0.25) * x; }},
      {R"({"type": "LeakyHardtanh", "min_val": -0.25, "max_val": 0.5, "min_slope": 0.125, "max_slope": 0.25})",
       [](double x, std::size_t) {
         return x < -0.25 ? 0.125 * (x + 0.25) - 0.25 : x > 0.5 ? 0.25 * (x - 0.5) + 0.5 : x;
       }},
      {"\"LeakyHardTanh\"", [](double x, std::size_t) {
         return x < -1 ? 0.01 * (x + 1) - 1 : x > 1 ? 0.01 * (x - 1) + 1 : x;
       }}};
}

}  // namespace nam_test
