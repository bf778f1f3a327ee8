// The source RandomNormal: normally distributed random values.
#pragma once

#include <coldpress/core/each.hpp>
#include <coldpress/core/freestanding.hpp>
#include <coldpress/core/layer.hpp>

namespace coldpress {

/// A layer without inputs. Each value is drawn from the standard normal distribution (Box and Muller 1958). It depends
/// on seed, step, sample and feature alone, so inference draws the same numbers every time.
struct RandomNormal {
  static constexpr std::string_view name = "random_normal";
  Shape shape = {10};
  std::uint64_t seed = 42;

  constexpr Shape output_shape() const {
    require(shape.size() > 0, "random_normal: the shape has no values");
    return shape;
  }
  constexpr void forward(auto const& backend, auto const& pass) const {
    using T = std::remove_cvref_t<decltype(*pass.y.data)>;
    each_part(backend, pass.y, pass.y.columns, [&](Index i, Index first, Index last) {
      for (Index j = first; j < last; ++j) {
        auto const bits = philox<std::uint32_t>(
            {{static_cast<std::uint32_t>(j), static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(pass.step),
              static_cast<std::uint32_t>(pass.step >> 32)}},
            pass.key);
        double const u = 1 - bits.words[0] * 0x1p-32,  // never 0
            angle = 2 * 3.14159265358979323846 * bits.words[1] * 0x1p-32;
        pass.y.row(i)[j] = static_cast<T>(freestanding::sqrt(-2 * freestanding::log(u)) * freestanding::cos(angle));
      }
    });
  }
  bool operator==(RandomNormal const&) const = default;
};

}  // namespace coldpress

COLDPRESS_FIELDS(coldpress::RandomNormal, shape, seed);
