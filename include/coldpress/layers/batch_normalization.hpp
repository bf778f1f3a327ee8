// The layer BatchNormalization: normalises each channel by its mean and variance over the minibatch.
#pragma once

#include <coldpress/core/freestanding.hpp>
#include <coldpress/core/layer.hpp>
#include <coldpress/core/sums.hpp>
#include <coldpress/core/totals.hpp>

#include <array>
#include <utility>

namespace coldpress {

/// y = weight (x - m) / sqrt(v + epsilon) + bias per channel (Ioffe and Szegedy 2015). The channels are along `axis`: 0
/// for {channels, ...} and {features}, -1 for {steps, features}. In training, m and v are the mean and the biased
/// variance over the minibatch and all positions. In inference they are running statistics, which each update moves by
/// `momentum` towards the minibatch's mean and unbiased variance (PyTorch's rule). A channel with a single value in the
/// minibatch becomes `bias`, and leaves the running variance alone. The parameters have the shape {channels}: weight
/// (initially 1), bias (0), and the running statistics mean (0) and variance (1).
struct BatchNormalization {
  static constexpr std::string_view name = "batch_normalization";
  float epsilon = 1e-5f;
  float momentum = 0.1f;
  Weight weight = {}, bias = {};
  int axis = 0;

  template <class Needs = Require>
  constexpr Shape output_shape(Shape const& in, Needs require = {}) const {
    require(in.size() > 0, "batch_normalization: the input has no values");
    static_cast<void>(axis_of(in, axis, require));
    require(epsilon > 0, "batch_normalization: epsilon must be above 0");
    require(momentum > 0 && momentum < 1, "batch_normalization: momentum must be above 0 and below 1");
    return in;
  }
  constexpr auto parameters(Shape const& in) const {
    auto const each = [&](std::string_view parameter, std::string_view suffix, float start) {
      return Parameter{.name = parameter, .suffix = suffix, .shape = {channels(in)}, .filler = Constant{start}};
    };
    std::array all{each("weight", "-0", 1).with(weight), each("bias", "-0-bias", 0).with(bias),
                   each("mean", "-0-mean", 0), each("variance", "-0-variance", 1)};
    all[2].average = all[3].average = momentum;
    return all;
  }
  /// Five numbers per channel, all of them in the first sample's memory: see Kept.
  constexpr Index memory(Shape const& in) const { return 5 * channels(in); }
  /// Of x, of squared distances from the mean, and the two that backward makes.
  constexpr Totals totals(Shape const& in) const {
    Index const c = channels(in);
    return {.forward = {{0, c}, {c, c}}, .backward = {3 * c, 2 * c}};
  }

  constexpr void forward(auto const& backend, auto const& pass) const {
    auto const x = pass.x;
    auto const p = pass.p;
    if (pass.step > 0) {
      Kept const kept{pass.memory, channels(pass.in)};
      auto const count = values(pass);
      total(
          backend, pass, 0, kept.means, [&](Index) { return [&](Index i, Index j) { return x.row(i)[j]; }; },
          [&](Index c) { kept.means[c] /= count; });
      total(
          backend, pass, 1, kept.variances,
          [&](Index c) {
            return [&, mean = kept.means[c]](Index i, Index j) {
              auto const distance = x.row(i)[j] - mean;
              return distance * distance;
            };
          },
          [&](Index c) {
            kept.factors[c] = factor(kept.variances[c] / count);
            kept.variances[c] = count > 1 ? kept.variances[c] / (count - 1) : p[3][c];
          });
      if (int const phase = phase_of(pass); phase == all_phases || phase == 2)
        normalize(backend, pass, [&](Index c) { return std::pair{kept.means[c], kept.factors[c]}; });
    } else {
      normalize(backend, pass, [&](Index c) { return std::pair{p[2][c], factor(p[3][c])}; });
    }
  }
  /// The gradients of bias and weight, from which the gradient of x is computed, too.
  constexpr void backward(auto const& backend, auto const& pass) const {
    Kept const kept{pass.memory, channels(pass.in)};
    auto const x = pass.x;
    auto const dy = pass.dy;
    auto const nothing = [](Index) {};
    sum(
        backend, pass, kept.biases, [&](Index) { return [&](Index i, Index j) { return dy.row(i)[j]; }; }, nothing);
    sum(
        backend, pass, kept.weights,
        [&](Index c) {
          return [&, mean = kept.means[c], by = kept.factors[c]](Index i, Index j) {
            return dy.row(i)[j] * ((x.row(i)[j] - mean) * by);
          };
        },
        nothing);
  }
  constexpr void backward_input(auto const& backend, auto const& pass) const {
    Kept const kept{pass.memory, channels(pass.in)};
    auto const x = pass.x;
    auto const dy = pass.dy;
    auto const dx = pass.dx;
    auto const count = values(pass);
    for_each(
        backend, pass,
        [&](Index c) {
          auto const by = kept.factors[c];
          return std::array{pass.p[0][c] * by, kept.biases[c] / count, kept.means[c], by * (kept.weights[c] / count)};
        },
        [&](Index i, Index j, auto scale, auto dbias, auto mean, auto slope) {
          dx.row(i)[j] = scale * (dy.row(i)[j] - dbias - (x.row(i)[j] - mean) * slope);
        });
  }
  constexpr void backward_parameters(auto const& backend, auto const& pass) const {
    Kept const kept{pass.memory, channels(pass.in)};
    backend.apply_gradient(kept.weights, kept.channels, pass.sinks[0]);
    backend.apply_gradient(kept.biases, kept.channels, pass.sinks[1]);
    backend.apply_gradient(kept.means, kept.channels, pass.sinks[2]);
    backend.apply_gradient(kept.variances, kept.channels, pass.sinks[3]);
  }
  static constexpr Capabilities capabilities{
      .backward_reads_input = true, .backward_reads_output = false, .loops = true};
  constexpr InputCapabilities capabilities_for(Shape const& in) const {
    return {.streaming = streams_if(keeps_steps(in, axis)), .mixes_samples = true};
  }
  bool operator==(BatchNormalization const&) const = default;

 private:
  constexpr Index channels(Shape const& in) const { return in[axis_of(in, axis)]; }
  /// What is kept per channel from a minibatch: mean, unbiased variance, 1 / sqrt(v + epsilon), and the gradients of
  /// bias and weight.
  template <class T>
  struct Kept {
    Index channels;
    T *means, *variances, *factors, *biases, *weights;
    constexpr Kept(T* memory, Index count)
        : channels(count),
          means(memory),
          variances(memory + count),
          factors(memory + 2 * count),
          biases(memory + 3 * count),
          weights(memory + 4 * count) {}
  };

  template <class T>
  constexpr T factor(T variance) const {
    return 1 / freestanding::sqrt(variance + static_cast<T>(epsilon));
  }
  /// The number of values per channel in the minibatch.
  template <class Pass>
  constexpr auto values(Pass const& pass) const {
    return static_cast<std::remove_cvref_t<decltype(*pass.memory)>>(samples_of(pass, pass.x.rows) *
                                                                    (pass.in.size() / channels(pass.in)));
  }
  /// Computes y; of_channel(c) gives the mean and the factor of channel c.
  constexpr void normalize(auto const& backend, auto const& pass, auto of_channel) const {
    auto const x = pass.x;
    auto const y = pass.y;
    for_each(
        backend, pass,
        [&](Index c) {
          auto const [mean, by] = of_channel(c);
          return std::array{mean, by * pass.p[0][c], pass.p[1][c]};
        },
        [&](Index i, Index j, auto mean, auto scale, auto shift) {
          y.row(i)[j] = (x.row(i)[j] - mean) * scale + shift;
        });
  }
  /// f(i, j, numbers...) for value j of sample i: an array of `of_channel(c)`.
  constexpr void for_each(auto const& backend, auto const& pass, auto of_channel, auto f) const {
    each_channel_value(backend, pass.x, Along{pass.in, axis}, of_channel, f);
  }
  /// sums[c] = Σ of_channel(c)(i, j); then finish(c).
  template <class T>
  constexpr void sum(auto const& backend, auto const& pass, T* sums, auto of_channel, auto finish) const {
    sum_channels(backend, pass.x.rows, Along{pass.in, axis}, sums, of_channel, finish);
  }
  /// The same as a phase. In a pass over a part, finish(c) begins the next one, when the sums are those of all parts.
  template <class T>
  constexpr void total(auto const& backend, auto const& pass, int number, T* sums, auto of_channel, auto finish) const {
    int const phase = phase_of(pass);
    bool const whole = phase == all_phases;
    if (whole || phase == number) {
      sum(backend, pass, sums, of_channel, [&](Index c) {
        if (whole) finish(c);
      });
    }
    if (phase == number + 1) {
      for (Index c = 0; c < channels(pass.in); ++c) finish(c);
    }
  }
};

}  // namespace coldpress

COLDPRESS_FIELDS(coldpress::BatchNormalization, epsilon, momentum, weight, bias, axis);
