// The layer Embedding: rows of a table, selected by numbers.
#pragma once

#include <coldpress/core/along.hpp>
#include <coldpress/core/each.hpp>
#include <coldpress/core/freestanding.hpp>
#include <coldpress/core/layer.hpp>

#include <limits>

namespace coldpress {

/// y = the rows of a table W {vocabulary, features} whose numbers are the values of a sample. T numbers, from 0 to
/// vocabulary - 1, become {T, features}. Any other value becomes NaNs. W is initially Gaussian. Its gradient is summed
/// in the order of the samples; the numbers get no gradient.
struct Embedding {
  static constexpr std::string_view name = "embedding";
  Index vocabulary = 256, features = 16;
  Weight weight = {};

  constexpr Shape output_shape(Shape const& in) const {
    require(vocabulary >= 1 && vocabulary <= Index{1} << 24, "embedding: vocabulary must be from 1 to 2^24");
    require(features >= 1, "embedding: features must be at least 1");
    require(in.size() > 0, "embedding: the input has no values");
    return {in.size(), features};
  }
  constexpr auto parameters(Shape) const {
    return std::array{Parameter{.name = "weight",
                                .suffix = "-0",
                                .shape = {vocabulary, features},
                                .filler = Gaussian{},
                                .fan_in = vocabulary,
                                .fan_out = features,
                                .row_major = true}
                          .with(weight)};
  }

  template <class Backend>
  constexpr Index scratch(Shape, Extent extent) const {
    return extent.training ? vocabulary * features : 0;
  }
  constexpr void forward(auto const& backend, auto const& pass) const {
    using T = typename decltype(pass.y)::Scalar;
    each_part(backend, pass.y, pass.x.columns * features, [&](Index n, auto first, Index last) {
      each_run(first, last, features, [&](Index t, auto begin, Index end) {
        T const number = pass.x.row(n)[t];
        T* const y = pass.y.row(n) + t * features + begin;
        if (is_label(number, vocabulary)) {
          freestanding::copy_n(pass.p[0] + static_cast<Index>(number) * features + begin, end - begin, y);
        } else {
          freestanding::fill_n(y, end - begin, std::numeric_limits<T>::quiet_NaN());
        }
      });
    });
  }
  constexpr void backward_parameters(auto const& backend, auto const& pass) const {
    using T = typename decltype(pass.dy)::Scalar;
    T* const gradient = backend.scratch;
    Index const numbers = pass.x.rows * pass.x.columns;
    if constexpr (many_threads<decltype(backend)>) {
      // Of the places with the same number, the first one sums the gradients of all.
      auto const at = [&](Index place) { return pass.x.row(place / pass.x.columns)[place % pass.x.columns]; };
      backend.each(vocabulary * features, [&](Index e) { gradient[e] = 0; });
      each_part(backend, pass.dy, pass.x.columns * features, [&](Index n, Index e, Index) {
        Index const own = n * pass.x.columns + e / features, f = e % features;
        T const number = at(own);
        if (!is_label(number, vocabulary)) return;
        for (Index place = 0; place < own; ++place) {
          if (at(place) == number) return;
        }
        T sum{};
        for (Index place = own; place < numbers; ++place) {
          if (at(place) == number) sum += pass.dy.row(place / pass.x.columns)[place % pass.x.columns * features + f];
        }
        gradient[static_cast<Index>(number) * features + f] = sum;
      });
    } else {
      constexpr Index at_once = 16;  // features that fill whole cache lines
      Index const cost = Context::value_cost * at_once * (numbers + vocabulary);
      each_range(backend, (features + at_once - 1) / at_once, cost, [&](Index begin, Index end, auto const&) {
        Index const first = begin * at_once, last = freestanding::smaller(end * at_once, features);
        for (Index word = 0; word < vocabulary; ++word)
          for (Index f = first; f < last; ++f) gradient[word * features + f] = T{};
        for (Index n = 0; n < pass.x.rows; ++n) {
          for (Index t = 0; t < pass.x.columns; ++t) {
            T const number = pass.x.row(n)[t];
            if (!is_label(number, vocabulary)) continue;
            T const* const dy = pass.dy.row(n) + t * features;
            T* const row = gradient + static_cast<Index>(number) * features;
            for (Index f = first; f < last; ++f) row[f] += dy[f];
          }
        }
      });
    }
    backend.hand_over(gradient, vocabulary * features, pass.sinks[0]);
  }
  static constexpr Capabilities capabilities{
      .backward_reads_input = true, .backward_reads_output = false, .any_steps = true};
  constexpr InputCapabilities capabilities_for(Shape const&) const { return {.streaming = StreamSupport::always}; }
  bool operator==(Embedding const&) const = default;
};

}  // namespace coldpress

COLDPRESS_FIELDS(coldpress::Embedding, vocabulary, features, weight);
