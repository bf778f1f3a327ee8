// Checks the labels that losses and statistics read, before anything is computed.
#pragma once

#include <coldpress/core/finite.hpp>
#include <coldpress/core/freestanding.hpp>
#include <coldpress/graph/node.hpp>

#include <array>
#include <span>
#include <utility>

namespace coldpress {

namespace detail {
/// Throws for label number `at`, counted over all samples, each of which has `of_sample` labels. `ignored`, if not
/// null, is a label that would be left out.
#if defined COLDPRESS_DECLARES_ONCE
[[noreturn]] __attribute__((cold)) void refuse_label(Index at, double label, Index of_sample, Index classes,
                                                     int const* ignored);
#else
[[noreturn]] COLDPRESS_ONCE void refuse_label(Index at, double label, Index of_sample, Index classes,
                                              int const* ignored) {
  raise<DataError>(sentence_of(
      of_sample > 1 ? sentence_of("label ", at % of_sample) : ErrorText{"the label"}, " of sample ", at / of_sample,
      " is ", number_text(label), "; expected a whole number from 0 to ", classes - 1,
      ignored ? sentence_of(" or, to be ignored, ", *ignored) : ErrorText{}, " (samples are counted from 0)"));
}
#endif
}  // namespace detail

/// Throws DataError, which says where it is, unless every label is a class of `reader`, a loss or a statistic that
/// compares values of shape `in`, or one that it leaves out.
template <class Reader, class T>
void check_targets(Reader const& reader, Shape const& in, std::span<T const> targets) {
  if constexpr (Labelled<Reader>) {
    Index const classes = reader.classes(in);
    for (std::size_t i = 0; i < targets.size(); ++i) {
      if (is_label(targets[i], classes) || is_ignored(reader, targets[i])) continue;
      int const* ignored = nullptr;
      if constexpr (requires { reader.ignore_index; }) ignored = &reader.ignore_index;
      Index of_sample = in.size() / classes;
      if constexpr (requires { reader.target_shape(in); }) of_sample = reader.target_shape(in).size();
      detail::refuse_label(static_cast<Index>(i), static_cast<double>(targets[i]), of_sample, classes, ignored);
    }
  }
}

/// What is known about values that do not change, so that they need not be checked before each pass.
struct ValueFacts {
  bool finite = false;  // all values are finite
  Index classes = -1;   // the smallest number of classes for which all values but `other` are labels; -1: there is none
  double other = 0;     // the one value, if `has_other`, that is no label of any number of classes
  bool has_other = false;

  /// Whether check_targets would find nothing; `false` may also mean that this is not known.
  template <class Reader>
  bool are_labels_of(Reader const& reader, Shape const& in) const {
    return classes >= 0 && classes <= reader.classes(in) && (!has_other || is_ignored(reader, other));
  }
  template <class T>
  static ValueFacts of(std::span<T const> values) {
    constexpr Index most = Index{1} << 40;
    ValueFacts facts{first_not_finite(values) < 0, 0};
    for (T value : values) {
      if (is_label(value, most)) {
        facts.classes = freestanding::max(facts.classes, static_cast<Index>(value) + 1);
      } else if (!facts.has_other || static_cast<double>(value) == facts.other) {
        facts.other = static_cast<double>(value), facts.has_other = true;
      } else {
        facts.classes = -1;
        break;
      }
    }
    return facts;
  }
};

/// The same for all labels that a static network's own losses and statistics read. `Given` is a span, or the type that
/// a device's passes receive.
template <class Graph, class Given, std::size_t n>
void check_labels(std::array<Given, n> const& inputs) {
  auto const check = [&](auto node) {
    constexpr Node reader = Graph::nodes[node];
    if constexpr (reader.kind == Node::Kind::loss || reader.kind == Node::Kind::statistic) {
      constexpr auto layer = Graph::template layer<node>;  // clang says `auto` is the type of the template itself
      if constexpr (Labelled<std::remove_cvref_t<decltype(layer)>>) {
        constexpr auto source = static_cast<std::size_t>(source_of(Graph::nodes, reader.inputs[1]));
        check_targets(layer, Graph::template input_shapes<node>[0], inputs[source]);
      }
    }
  };
  [&]<int... i>(std::integer_sequence<int, i...>) { (check(std::integral_constant<int, i>{}), ...); }
  (std::make_integer_sequence<int, Graph::size>{});
}

}  // namespace coldpress
