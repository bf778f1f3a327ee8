// The layer RandomMask: zeroes random values while training, without scaling the others.
#pragma once

#include <coldpress/layers/dropout.hpp>

namespace coldpress {

/// While training, zeroes each value with `probability` and leaves the others as they are, as denoising autoencoders
/// need it. Does nothing in inference.
struct RandomMask {
  static constexpr std::string_view name = "random_mask";
  float probability = 0.5f;
  std::uint64_t seed = 42;

  template <class Needs = Require>
  constexpr Shape output_shape(Shape const& in, Needs require = {}) const {
    require(probability >= 0 && probability < 1, "random_mask: probability must be at least 0 and below 1");
    return in;
  }
  constexpr DropoutOp op(std::uint64_t key) const {
    DropoutOp mask = Dropout{.probability = probability}.op(key);
    mask.scale = 1;
    return mask;
  }
  bool operator==(RandomMask const&) const = default;
};

}  // namespace coldpress

COLDPRESS_FIELDS(coldpress::RandomMask, probability, seed);
