// The layer Embedding: rows of a table, selected by numbers.
#pragma once

#include <coldpress/core/along.hpp>
#include <coldpress/core/each.hpp>
#include <coldpress/core/freestanding.hpp>
#include <coldpress/core/layer.hpp>
#include <coldpress/core/numbered_rows.hpp>

#include <limits>

namespace coldpress {

/// y = the rows of a table W {vocabulary, features} whose numbers are the values of a sample. T numbers, from 0 to
/// vocabulary - 1, become {T, features}. Any other value becomes NaNs. W is initially Gaussian. Its gradient is summed
/// in the order of the samples; the numbers get no gradient.
struct Embedding {
  static constexpr std::string_view name = "embedding";
  Index vocabulary = 256, features = 16;
  Weight weight = {};

  template <class Needs = Require>
  constexpr Shape output_shape(Shape const& in, Needs require = {}) const {
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
    return extent.training ? numbered_rows_scratch<Backend>(vocabulary, features) : 0;
  }
  constexpr Index memory(Shape const& in) const { return in.size(); }  // links the places with the same number
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
    apply_numbered_rows(backend, pass.x, pass.dy, vocabulary, features, pass.memory, pass.sinks[0]);
  }
  static constexpr Capabilities capabilities{
      .backward_reads_input = true, .backward_reads_output = false, .any_steps = true, .loops = true};
  constexpr InputCapabilities capabilities_for(Shape const&) const { return {.streaming = StreamSupport::always}; }
  bool operator==(Embedding const&) const = default;
};

}  // namespace coldpress

COLDPRESS_FIELDS(coldpress::Embedding, vocabulary, features, weight);
