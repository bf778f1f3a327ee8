// RTNeural's convolution over steps and features as a convolution over steps.
#pragma once

#include "keras_layout.hpp"

#include <algorithm>

namespace coldpress::convert::rtneural {

constexpr Index max_weights = Index{1} << 24;  // of the convolution over steps

/// A step has `channels` values for each of its features, one feature after another. Filters reach over `taps` steps,
/// the current one last, and over `width` features, with zeros around them or not.
struct Conv2d {
  Index features = 1, channels = 1, outputs = 1;
  Index taps = 1, width = 1, stride = 1;
  bool same = false;  // as many features come out as go in, divided by the stride

  /// The features that come out; at least 0.
  Index places() const {
    return same ? (features + stride - 1) / stride : features < width ? 0 : (features - width) / stride + 1;
  }
  /// The zeros before the first feature: half of what is missing, rounded down.
  Index padding() const { return same ? std::max<Index>(0, (places() - 1) * stride + width - features) / 2 : 0; }

  /// The kernel {taps, width, channels, outputs} as {places outputs, features channels, taps}.
  std::vector<float> of_sequence(keras::Array const& kernel) const {
    Index const columns = features * channels;
    std::vector<float> values(static_cast<std::size_t>(places() * outputs * columns * taps));
    std::size_t from = 0;
    for (Index t = 0; t < taps; ++t) {
      for (Index j = 0; j < width; ++j) {
        for (Index c = 0; c < channels; ++c) {
          for (Index o = 0; o < outputs; ++o, ++from) {
            for (Index place = 0; place < places(); ++place) {
              Index const feature = place * stride - padding() + j;
              if (feature < 0 || feature >= features) continue;
              Index const row = place * outputs + o, column = feature * channels + c;
              values[static_cast<std::size_t>((row * columns + column) * taps + t)] = kernel.values[from];
            }
          }
        }
      }
    }
    return values;
  }
};

}  // namespace coldpress::convert::rtneural
