// The layer GlobalAveragePooling: the mean of each channel.
#pragma once

#include <coldpress/core/along.hpp>
#include <coldpress/core/each.hpp>
#include <coldpress/core/freestanding.hpp>
#include <coldpress/core/layer.hpp>

namespace coldpress {

/// The mean of each channel: {C, ...} becomes {C}.
struct GlobalAveragePooling {
  static constexpr std::string_view name = "global_average_pooling";

  template <class Needs = Require>
  constexpr Shape output_shape(Shape const& in, Needs require = {}) const {
    require(in.size() > 0, "global_average_pooling: the input has no values");
    return {in[0]};
  }

  constexpr void forward(auto const& backend, auto const& pass) const {
    using T = typename decltype(pass.x)::Scalar;
    Index const channels = pass.y.columns, count = pass.in.size() / channels;
    each_part(backend, pass.x, channels, [&](Index n, auto first, Index last) {
      for (Index c = first; c < last; ++c) {
        T const* const x = pass.x.row(n) + c * count;
        pass.y.row(n)[c] = sum_over<T>(count, [&](Index i) { return x[i]; }) / static_cast<T>(count);
      }
    });
  }
  constexpr void backward_input(auto const& backend, auto const& pass) const {
    using T = typename decltype(pass.dx)::Scalar;
    Index const channels = pass.dy.columns, count = pass.in.size() / channels;
    each_part(backend, pass.dx, channels * count, [&](Index n, auto first, Index last) {
      each_run(first, last, count, [&](Index c, auto begin, Index end) {
        freestanding::fill_n(pass.dx.row(n) + c * count + begin, end - begin,
                             pass.dy.row(n)[c] / static_cast<T>(count));
      });
    });
  }
  static constexpr Capabilities capabilities{
      .backward_reads_input = false, .backward_reads_output = false, .loops = true};
  bool operator==(GlobalAveragePooling const&) const = default;
};

}  // namespace coldpress

COLDPRESS_FIELDS(coldpress::GlobalAveragePooling);
