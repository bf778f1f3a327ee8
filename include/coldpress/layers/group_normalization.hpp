// The layer GroupNormalization: normalises groups of each sample's channels; with one channel each, instances.
#pragma once

#include <coldpress/core/freestanding.hpp>
#include <coldpress/core/layer.hpp>
#include <coldpress/core/stages.hpp>
#include <coldpress/core/sums.hpp>

namespace coldpress {

/// y = weight (x - m) / sqrt(v + epsilon) + bias for samples {channels, ...}, where m and v are the mean and the biased
/// variance of a group of neighbouring channels of the sample, with all positions (PyTorch's GroupNorm; Wu and He
/// 2018). With groups = 0, each channel is a group: instance normalisation (PyTorch's InstanceNorm; Ulyanov et al.
/// 2016). Each channel has a weight, initially 1, and a bias, initially 0; with lr_mult = 0 they stay so, which is
/// PyTorch's affine=False.
struct GroupNormalization {
  static constexpr std::string_view name = "group_normalization";
  Index groups = 32;
  float epsilon = 1e-5f;
  Weight weight = {}, bias = {};

  template <class Needs = Require>
  constexpr Shape output_shape(Shape const& in, Needs require = {}) const {
    require(in.size() > 0, "group_normalization: the input has no values");
    require(groups >= 0 && (groups == 0 || in[0] % groups == 0),
            "group_normalization: groups must divide the number of channels, or be 0: one for each channel");
    require(epsilon > 0, "group_normalization: epsilon must be above 0");
    return in;
  }
  constexpr auto parameters(Shape const& in) const {
    Index const n = in[0];
    return std::array{Parameter{"weight", "-0", {n}, Constant{1}, n, n}.with(weight),
                      Parameter{"bias", "-0-bias", {n}, Constant{0}, n, n}.with(bias)};
  }
  constexpr Index memory(Shape const& in) const { return 4 * count(in) + 2 * in[0]; }

  template <class Backend>
  constexpr Index scratch(Shape const& in, Extent extent) const {
    return extent.training ? 2 * in[0] : 0;
  }
  constexpr void forward(auto const& backend, auto const& pass) const {
    using T = typename decltype(pass.x)::Scalar;
    Lines<T> const all{*this, pass.in, pass.memory};
    auto const values = [&](Index g) { return [x = all.group(pass.x, g)](Index j) { return x[j]; }; };
    auto const squares = [&](Index g) {
      return [x = all.group(pass.x, g), mean = all.of_group(g)[0]](Index j) { return (x[j] - mean) * (x[j] - mean); };
    };
    auto const keep_mean = [&](Index g, T sum) { all.of_group(g)[0] = sum / static_cast<T>(all.size()); };
    auto const keep_factor = [&](Index g, T sum) {
      all.of_group(g)[1] = 1 / freestanding::sqrt(sum / static_cast<T>(all.size()) + static_cast<T>(epsilon));
    };
    auto const normalize = [&](Index c) {
      T const *const kept = all.of_group(c / all.each), scale = kept[1] * pass.p[0][c % all.channels];
      return [=, x = all.channel(pass.x, c), y = all.channel(pass.y, c), mean = kept[0],
              shift = pass.p[1][c % all.channels]](Index j) { y[j] = (x[j] - mean) * scale + shift; };
    };
    in_stages(backend, pass.x, all.groups, LineSum{1, all.size(), values, keep_mean},
              LineSum{1, all.size(), squares, keep_factor}, LineLoop{all.each, all.positions, normalize});
  }
  /// What both gradients need: Σ dy and Σ dy h over the positions of each channel, with h the normalised x, and from
  /// these the means of weight dy and of weight dy h over each group.
  constexpr void backward(auto const& backend, auto const& pass) const {
    using T = typename decltype(pass.dy)::Scalar;
    Lines<T> const all{*this, pass.in, pass.memory};
    auto const values = [&](Index c) { return [dy = all.channel(pass.dy, c)](Index j) { return dy[j]; }; };
    auto const products = [&](Index c) {
      T const* const kept = all.of_group(c / all.each);
      return [dy = all.channel(pass.dy, c), x = all.channel(pass.x, c), mean = kept[0], factor = kept[1]](Index j) {
        return dy[j] * ((x[j] - mean) * factor);
      };
    };
    auto const keep = [&](int number) { return [&all, number](Index c, T sum) { all.of_channel(c)[number] = sum; }; };
    auto const weighted = [&](int number) {
      return [&, number](Index g) {
        return [&, number, first = g * all.each](Index k) {
          return pass.p[0][(first + k) % all.channels] * all.of_channel(first + k)[number];
        };
      };
    };
    auto const keep_mean = [&](int number) {
      return [&all, number](Index g, T sum) { all.of_group(g)[2 + number] = sum / static_cast<T>(all.size()); };
    };
    in_stages(backend, pass.dy, all.groups, LineSum{all.each, all.positions, values, keep(0)},
              LineSum{all.each, all.positions, products, keep(1)}, LineSum{1, all.each, weighted(0), keep_mean(0)},
              LineSum{1, all.each, weighted(1), keep_mean(1)});
  }
  /// dx = (weight dy - mean(weight dy) - h mean(weight dy h)) / deviation
  constexpr void backward_input(auto const& backend, auto const& pass) const {
    using T = typename decltype(pass.dx)::Scalar;
    Lines<T> const all{*this, pass.in, pass.memory};
    auto const gradient = [&](Index c) {
      T const* const kept = all.of_group(c / all.each);
      return [x = all.channel(pass.x, c), dy = all.channel(pass.dy, c), dx = all.channel(pass.dx, c), mean = kept[0],
              factor = kept[1], along_1 = kept[2], along_h = kept[3], w = pass.p[0][c % all.channels]](Index j) {
        dx[j] = (w * dy[j] - along_1 - (x[j] - mean) * factor * along_h) * factor;
      };
    };
    in_stages(backend, pass.dx, all.groups, LineLoop{all.each, all.positions, gradient});
  }
  constexpr void backward_parameters(auto const& backend, auto const& pass) const {
    using T = typename decltype(pass.dy)::Scalar;
    Lines<T> const all{*this, pass.in, pass.memory};
    T *const dw = backend.scratch, *const db = dw + all.channels;
    sum_columns(backend, all.channels, pass.dy.rows, std::array{dw, db}, [&](Index n) {
      return [&all, first = n * all.channels](Index c) {
        T const* const sums = all.of_channel(first + c);
        return std::array<T, 2>{sums[1], sums[0]};
      };
    });
    backend.apply_gradient(dw, all.channels, pass.sinks[0]);
    backend.apply_gradient(db, all.channels, pass.sinks[1]);
  }
  static constexpr Capabilities capabilities{
      .backward_reads_input = true, .backward_reads_output = false, .loops = true};
  bool operator==(GroupNormalization const&) const = default;

 private:
  constexpr Index count(Shape const& in) const { return groups == 0 ? in[0] : groups; }
  /// Groups and channels, counted over all samples, and the numbers that are kept for them.
  template <class T>
  struct Lines {
    Index groups, channels, each, positions, kept;
    T* memory;

    constexpr Lines(GroupNormalization const& layer, Shape const& in, T* numbers)
        : groups(layer.count(in)),
          channels(in[0]),
          each(channels / groups),
          positions(in.size() / channels),
          kept(layer.memory(in)),
          memory(numbers) {}
    constexpr Index size() const { return each * positions; }
    /// Mean, 1 / deviation, mean(weight dy) and mean(weight dy h).
    constexpr T* of_group(Index g) const { return memory + g / groups * kept + 4 * (g % groups); }
    /// Σ dy and Σ dy h.
    constexpr T* of_channel(Index c) const { return memory + c / channels * kept + 4 * groups + 2 * (c % channels); }
    constexpr auto* group(auto const& rows, Index g) const { return rows.row(g / groups) + g % groups * size(); }
    constexpr auto* channel(auto const& rows, Index c) const {
      return rows.row(c / channels) + c % channels * positions;
    }
  };
};

}  // namespace coldpress

COLDPRESS_FIELDS(coldpress::GroupNormalization, groups, epsilon, weight, bias);
