// Labels that losses and statistics read are checked before anything is computed.
#pragma once

#include <coldpress/graph/node.hpp>

#include <array>
#include <span>
#include <utility>

namespace coldpress {

/// Throws DataError unless every label is a class of `reader`, a loss or a statistic that compares values of shape
/// `in`.
template <class Reader, class T>
void check_targets(Reader const& reader, Shape const& in, std::span<T const> targets) {
  if constexpr (Labelled<Reader>) {
    Index const classes = reader.classes(in);
    for (T const label : targets) {
      if (!is_label(label, classes))
        throw DataError{"a label must be a whole number, from 0 and below the number of classes"};
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
