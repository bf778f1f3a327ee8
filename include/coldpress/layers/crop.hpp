// The layer Crop: cuts a part out of images, at a random place while training.
#pragma once

#include <coldpress/core/along.hpp>
#include <coldpress/core/each.hpp>
#include <coldpress/core/freestanding.hpp>
#include <coldpress/core/geometry.hpp>
#include <coldpress/core/layer.hpp>

namespace coldpress {

/// A part of each image, with `size` as the {height, width} of the last two axes. In inference it is the middle. In
/// training, `random_crop` gives each sample a random place of its own, and `random_mirror` mirrors each sample from
/// left to right with probability 1/2.
struct Crop {
  static constexpr std::string_view name = "crop";
  PerAxis size = 0;
  bool random_crop = false, random_mirror = false;
  std::uint64_t seed = 42;

  template <class Needs = Require>
  constexpr Shape output_shape(Shape const& in, Needs require = {}) const {
    int const rank = in.rank();
    require(in.size() > 0 && rank >= 2, "crop: the input must end in {height, width}");
    require(size.count <= 2, "crop: size is a height and a width, there is no third");
    require(size[0] >= 1 && size[0] <= in[rank - 2] && size[1] >= 1 && size[1] <= in[rank - 1],
            "crop: size must be at least 1, and not larger than the input");
    Shape out = in;
    out.extents[rank - 2] = size[0], out.extents[rank - 1] = size[1];
    return out;
  }

  constexpr void forward(auto const& backend, auto const& pass) const {
    for_each_row(backend, pass, pass.x, [&](Index n, Index from, Index to, auto const& copy) {
      copy(pass.x.row(n) + from, pass.y.row(n) + to);
    });
  }
  constexpr void backward_input(auto const& backend, auto const& pass) const {
    using T = typename decltype(pass.dx)::Scalar;
    each_part(backend, pass.dx, pass.dx.columns, [&](Index n, auto first, Index last) {
      freestanding::fill_n(pass.dx.row(n) + first, last - first, T{});
    });
    for_each_row(backend, pass, pass.dx, [&](Index n, Index to, Index from, auto const& copy) {
      copy(pass.dy.row(n) + from, pass.dx.row(n) + to);
    });
  }
  static constexpr Capabilities capabilities{.backward_reads_input = false, .backward_reads_output = false};
  bool operator==(Crop const&) const = default;

 private:
  /// f(sample, place in x, place in y, copy) for each row of the part; copy(from, to) copies the row's values.
  template <class Pass, class F>
  constexpr void for_each_row(auto const& backend, Pass const& pass, auto const& samples, F f) const {
    int const rank = pass.in.rank();
    Index const height = pass.in[rank - 2], width = pass.in[rank - 1], planes = pass.in.size() / (height * width);
    each_part(backend, samples, planes * size[0] * size[1], [&](Index n, auto first, Index last) {
      auto const random = RandomStream{pass.key}.block(static_cast<std::uint64_t>(n), pass.step);
      bool const training = pass.step > 0;
      auto const offset = [&](Index room, std::uint32_t word) {
        bool const chance = training && random_crop;
        return chance ? static_cast<Index>((std::uint64_t{word} * static_cast<std::uint64_t>(room + 1)) >> 32)
                      : room / 2;
      };
      Index const top = offset(height - size[0], random.words[0]), left = offset(width - size[1], random.words[1]);
      bool const mirrored = training && random_mirror && random.words[2] % 2 == 1;
      each_run(first, last, size[0] * size[1], [&](Index plane, auto from, Index to) {
        each_run(from, to, size[1], [&](Index i, auto begin, Index end) {
          f(n, (plane * height + top + i) * width + left, (plane * size[0] + i) * size[1],
            [&](auto const* source, auto* target) {
              for (Index j = begin; j < end; ++j) target[j] = source[mirrored ? size[1] - 1 - j : j];
            });
        });
      });
    });
  }
};

}  // namespace coldpress

COLDPRESS_FIELDS(coldpress::Crop, size, random_crop, random_mirror, seed);
