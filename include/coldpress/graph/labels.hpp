// Labels that losses and statistics read are checked before anything is computed.
#pragma once

#include <coldpress/core/finite.hpp>
#include <coldpress/graph/node.hpp>

#include <array>
#include <span>
#include <utility>

namespace coldpress {

namespace detail {
/// Label number `at` among those of all samples, of which each has one for every `classes` values of shape `in`.
[[noreturn]] __attribute__((noinline, cold)) inline void refuse_label(Index at, double label, Shape const& in,
                                                                      Index classes) {
  Index const of_sample = in.size() / classes;
  throw DataError{sentence_of(of_sample > 1 ? sentence_of("label ", at % of_sample) : "the label", " of sample ",
                              at / of_sample, " is ", number_text(label), "; expected a whole number from 0 to ",
                              classes - 1, " (samples are counted from 0)")};
}
}  // namespace detail

/// Throws DataError, which says where it is, unless every label is a class of `reader`, a loss or a statistic that
/// compares values of shape `in`.
template <class Reader, class T>
void check_targets(Reader const& reader, Shape const& in, std::span<T const> targets) {
  if constexpr (Labelled<Reader>) {
    Index const classes = reader.classes(in);
    for (std::size_t i = 0; i < targets.size(); ++i) {
      if (!is_label(targets[i], classes))
        detail::refuse_label(static_cast<Index>(i), static_cast<double>(targets[i]), in, classes);
    }
  }
}

/// The same for all labels that a static network's own losses and statistics read.
template <class Graph, class T, std::size_t n>
void check_labels(std::array<std::span<T const>, n> const& inputs) {
  auto const check = [&](auto node) {
    if constexpr (Graph::recorded.labels[node]) {
      constexpr auto source = static_cast<std::size_t>(source_of(Graph::nodes, Graph::nodes[node].inputs[1]));
      check_targets(Graph::template layer<node>, Graph::template input_shapes<node>[0], inputs[source]);
    }
  };
  [&]<int... i>(std::integer_sequence<int, i...>) { (check(std::integral_constant<int, i>{}), ...); }
  (std::make_integer_sequence<int, Graph::size>{});
}

}  // namespace coldpress
