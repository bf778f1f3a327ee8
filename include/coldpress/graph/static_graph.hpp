// A network type as nodes, names and parameters: everything about it that the compiler knows.
#pragma once

#include <coldpress/graph/node.hpp>
#include <coldpress/graph/sequential.hpp>

namespace coldpress {

/// A name the compiler makes: the layer's type and a running number.
struct Name {
  static constexpr int capacity = 47;
  char text[capacity + 1] = {};
  int length = 0;

  constexpr Name() = default;
  constexpr explicit Name(std::string_view s) { append(s); }
  constexpr void append(std::string_view s) {
    require(length + static_cast<int>(s.size()) <= capacity, "name: a layer's name may have at most 40 characters");
    for (char c : s) text[length++] = c;
  }
  constexpr void append(int number) {
    char digits[12];
    int n = 0;
    for (; number > 0 || n == 0; number /= 10) digits[n++] = static_cast<char>('0' + number % 10);
    while (n > 0) text[length++] = digits[--n];
  }
  constexpr std::string_view view() const { return {text, static_cast<std::size_t>(length)}; }
  constexpr operator std::string_view() const { return view(); }
};

/// The nodes of Net for samples of shape `in`. Node 0 is the input; node i > 0 is layer<i>.
template <class Net, Shape in>
struct StaticGraph {
  using Layers = typename detail::Flattened<Net>::type;
  static constexpr int size = Layers::size + 1;
  static constexpr std::array outputs{size - 1};
  template <int i>
  static constexpr auto layer = Layers::template at<i - 1>::value;

  static constexpr std::array<Node, size> nodes = []<int... i>(std::integer_sequence<int, i...>) {
    std::array<Node, size> n{};
    n[0] = Node{.shape = in};
    ((n[i + 1] = node_of(layer<i + 1>, i, n[i].shape)), ...);
    return n;
  }
  (std::make_integer_sequence<int, Layers::size>{});

  static constexpr std::array<Name, size> names = []<int... i>(std::integer_sequence<int, i...>) {
    std::array<std::string_view, size> const types{"", Layers::template at<i>::value.name...};
    std::array<std::string_view, size> const given{"", Layers::template at<i>::name...};
    std::array<Name, size> n{};
    for (int k = 1; k < size; ++k) {
      n[k] = Name{given[k].empty() ? types[k] : given[k]};
      if (!given[k].empty()) continue;
      int number = 1;
      for (int j = 1; j < k; ++j) number += given[j].empty() && types[j] == types[k];
      n[k].append(number);
    }
    for (int k = 1; k < size; ++k) {
      for (int j = 1; j < k; ++j) require(n[j].view() != n[k].view(), "sequential: two layers have the same name");
    }
    return n;
  }
  (std::make_integer_sequence<int, Layers::size>{});

  /// Parameters of all layers in order, and the first one of each node.
  static constexpr int parameter_count = []<int... i>(std::integer_sequence<int, i...>) {
    return (0 + ... + static_cast<int>(parameters_of(layer<i + 1>, nodes[i].shape).size()));
  }
  (std::make_integer_sequence<int, Layers::size>{});

  /// The keys that nodes share their parameters under, empty for most; and the first node with that of node i.
  static constexpr std::array<std::string_view, size> share_names = []<int... i>(std::integer_sequence<int, i...>) {
    return std::array<std::string_view, size>{"", Layers::template at<i>::share...};
  }
  (std::make_integer_sequence<int, Layers::size>{});
  static constexpr int first_sharing(int i) {
    int first = 0;
    while (first < i && (share_names[i].empty() || share_names[first] != share_names[i])) ++first;
    return first;
  }
  struct Parameters {
    std::array<Parameter, parameter_count> list{};
    std::array<int, parameter_count> node{};
    std::array<int, parameter_count> owner{};  // the first parameter that it is the same as: itself, unless Shared
    int owners = 0;
    std::array<int, size + 1> first{};
  };
  static constexpr Parameters parameters = []<int... i>(std::integer_sequence<int, i...>) {
    Parameters all{};
    int n = 0;
    (
        [&] {
          all.first[i + 1] = n;
          for (Parameter const& p : parameters_of(layer<i + 1>, nodes[i].shape)) {
            require(p.lr_mult >= 0 && p.decay_mult >= 0, "layer: lr_mult and decay_mult of a weight are at least 0");
            require(p.max_norm.norm >= 0 && p.max_norm.every > 0,
                    "layer: max_norm of a weight is at least 0, and at most every update");
            all.node[n] = i + 1, all.list[n] = p, all.owner[n] = n;
            if (int const first = first_sharing(i + 1); first < i + 1) {
              all.owner[n] = all.first[first] + n - all.first[i + 1];
              bool const is_first = all.owner[n] < all.first[first + 1] && all.list[all.owner[n]].suffix == p.suffix;
              require(is_first && same_order(all.list[all.owner[n]], p),
                      "Shared: layers of one key need the same parameters, in shape and order");
            }
            all.owners += all.owner[n] == n;
            ++n;
          }
        }(),
        ...);
    all.first[size] = n;
    return all;
  }
  (std::make_integer_sequence<int, Layers::size>{});

  /// What users see: every parameter once.
  static constexpr auto weights = [] {
    std::array<int, parameters.owners> all{};
    int n = 0;
    for (int i = 0; i < parameter_count; ++i) {
      if (parameters.owner[i] == i) all[n++] = i;
    }
    return all;
  }();
  static constexpr bool shares = parameters.owners < parameter_count;
};

}  // namespace coldpress
