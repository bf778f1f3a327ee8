// A network type as nodes, names and parameters: everything that the compiler knows about it.
#pragma once

#include <coldpress/graph/alike.hpp>
#include <coldpress/typed/sequential.hpp>

namespace coldpress {

namespace detail {
/// How many parts of each kind a network has, from the first run.
template <class Net, Inputs in>
constexpr auto counted() {
  Counter<typename ListOf<Net>::type> counter{};
  record<Net, in.count>(counter, in);
  return counter.counts;
}
template <std::size_t count, class T, std::size_t n>
constexpr std::array<T, count> first_of(T const (&all)[n]) {
  std::array<T, count> first{};
  for (std::size_t i = 0; i < count; ++i) first[i] = all[i];
  return first;
}
}  // namespace detail

/// The nodes of Net for samples of shapes `in`. The inputs come first; after them, node i is layer<i>.
template <class Net, Inputs in>
struct StaticGraph {
  using Types = typename detail::ListOf<Net>::type;
  static constexpr auto counts = detail::counted<Net, in>();
  static constexpr auto recorded = [] {
    detail::Recorded<Types, counts> all{};
    detail::GraphBuilder<detail::Recorded<Types, counts>> builder{all};
    detail::record<Net, in.count>(builder, in);
    builder.finish();
    return all;
  }();

  static constexpr int sums = recorded.sums;  // the number of sums of all losses and statistics
  static constexpr int size = counts.nodes, inputs = in.count, parameter_count = counts.parameters;
  static constexpr int targets = -1;  // there is no node for targets; an external loss adds one
  static constexpr auto const& nodes = recorded.nodes.items;
  static constexpr auto const& names = recorded.names.items;
  static constexpr auto const& outputs = recorded.outputs.items;
  template <int i>
  static constexpr auto layer = detail::stored<recorded.kind[i]>(recorded).list[recorded.slot[i]];

  /// The shapes of node i's inputs.
  template <int i>
  static constexpr auto input_shapes = input_shapes_of<static_cast<std::size_t>(nodes[i].input_count())>(nodes, i);

 private:
  static constexpr int most_sizes = 32;  // in a type, since the names of functions contain it
  /// The sizes of the layers of one type and variant, each once.
  template <PassKind kind, int of_type, auto variant>
  static constexpr auto different_sizes() {
    auto const& layers = detail::stored<of_type>(recorded).list;
    struct {
      decltype(layers[0].template sizes<kind, variant>(Shape{})) list[size] = {};
      int count = 0;
    } all;
    for (int i = inputs; i < size && all.count <= most_sizes; ++i) {
      if (recorded.kind[i] != of_type) continue;
      Shape const& from = nodes[nodes[i].inputs[0]].shape;
      auto const& one = layers[recorded.slot[i]];
      if (!(one.template variant<kind>(from) == variant)) continue;
      auto const sizes = one.template sizes<kind, variant>(from);
      bool seen = false;
      for (int n = 0; n < all.count; ++n) seen |= all.list[n] == sizes;
      if (!seen) all.list[all.count++] = sizes;
    }
    return all;
  }

 public:
  /// The variant of the layers of a type (recorded.kind) with all their sizes (core/pass.hpp), or without them if there
  /// are too many.
  template <PassKind kind, int of_type, auto variant>
  static constexpr auto sized_variant() {
    constexpr auto all = different_sizes<kind, of_type, variant>();
    if constexpr (all.count > most_sizes) {
      return std::integral_constant<std::remove_const_t<decltype(variant)>, variant>{};
    } else {
      return SizedVariant<variant, detail::first_of<all.count>(all.list)>{};
    }
  }

  /// The parameters of all layers in order. For each parameter, `node` is its node and `owner` is the first parameter
  /// that it shares weights with, or itself. For each node, `first` is its first parameter.
  struct Parameters {
    static constexpr auto const& list = recorded.parameters.items;
    static constexpr auto const& node = recorded.parameter_node.items;
    static constexpr auto const& owner = recorded.owner.items;
    static constexpr auto const& first = recorded.first_parameter.items;
    static constexpr int owners = recorded.weight_count;
  };
  static constexpr Parameters parameters{};

  /// The parameters that users see: shared ones only once.
  static constexpr auto weights = [] {
    std::array<int, static_cast<std::size_t>(parameters.owners)> all{};
    std::size_t n = 0;
    for (int i = 0; i < parameter_count; ++i) {
      if (parameters.owner[static_cast<std::size_t>(i)] == i) all[n++] = i;
    }
    return all;
  }();
  static constexpr bool shares = parameters.owners < parameter_count;
  static constexpr bool has_losses = [] {
    for (Node const& node : nodes) {
      if (node.kind == Node::Kind::loss) return true;
    }
    return false;
  }();

 private:
  using Equals = std::array<int, static_cast<std::size_t>(size)>;
  /// Among the large nodes of one type of layer.
  template <int kind>
  static constexpr void find_equals(Equals& first) {
    if constexpr (counts.layers[kind] > 1) {
      auto const& layers = detail::stored<kind>(recorded).list;
      if constexpr (!draws_numbers<std::remove_cvref_t<decltype(layers[0])>>) {
        int differ[detail::most_compared] = {}, different = 0;  // the last that are equal to none before them
        for (int i = inputs; i < size; ++i) {
          if (recorded.kind[i] != kind || nodes[i].shape.size() < detail::large_group) continue;
          int const from = freestanding::max(0, different - detail::most_compared);
          for (int k = from; k < different && first[i] == i; ++k) {
            int const other = differ[k % detail::most_compared];
            if (same_shapes(nodes[other], nodes[i]) && layers[recorded.slot[other]] == layers[recorded.slot[i]])
              first[i] = other;
          }
          if (first[i] == i) differ[different++ % detail::most_compared] = i;
        }
      }
    }
  }
  static constexpr bool same_shapes(Node const& a, Node const& b) {
    if (a.shape != b.shape || a.input_count() != b.input_count()) return false;
    for (int k = 0; k < a.input_count(); ++k) {
      if (nodes[a.inputs[k]].shape != nodes[b.inputs[k]].shape) return false;
    }
    return true;
  }

 public:
  /// For each node, the first whose layer and shapes are equal, or itself: a small node, or one whose layer draws
  /// random numbers.
  static constexpr Equals equals = [] {
    Equals first{};
    for (int i = 0; i < size; ++i) first[static_cast<std::size_t>(i)] = i;
    [&]<int... kind>(std::integer_sequence<int, kind...>) { (find_equals<kind>(first), ...); }
    (std::make_integer_sequence<int, detail::size_of(Types{})>{});
    return first;
  }();
};

}  // namespace coldpress
