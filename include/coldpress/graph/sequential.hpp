// Sequential: layers one after the other, as a type. It is itself a layer, so it nests.
#pragma once

#include <coldpress/core/layer.hpp>

namespace coldpress {

template <Layer auto... layers>
struct Sequential {
  static constexpr bool is_container = true;
  static constexpr std::string_view name = "sequential";

  constexpr Shape output_shape(Shape in) const {
    ((in = layers.output_shape(in)), ...);
    return in;
  }
  bool operator==(Sequential const&) const = default;
};

/// A short string as a template argument.
template <std::size_t n>
struct FixedString {
  char text[n];
  constexpr FixedString(char const (&literal)[n]) {
    for (std::size_t i = 0; i < n; ++i) text[i] = literal[i];
  }
  constexpr std::string_view view() const { return {text, n - 1}; }
};

/// A layer with a name of your choice: Sequential<Named<"fc1", Linear{128}>{}, ReLU{}>. Others are called linear1,
/// relu1, linear2, ...
template <FixedString text, Layer auto layer>
struct Named {
  static_assert(
      requires { layer.output_shape({}); } && !requires { layer.inner; } && !requires { layer.is_container; },
      "Named: takes a single layer, neither a Sequential nor a Named");
  static constexpr std::string_view given_name = text.view();
  static constexpr auto inner = layer;
  static constexpr std::string_view name = std::remove_cvref_t<decltype(layer)>::name;
  constexpr Shape output_shape(Shape in) const { return layer.output_shape(in); }
  bool operator==(Named const&) const = default;
};

namespace detail {

// A flat list of layers as values in a type; at<i> finds one by overload resolution, without recursion.
template <int i, auto layer, FixedString given_name>
struct Leaf {
  static constexpr auto value = layer;
  static constexpr std::string_view name = given_name.view();
};
template <class Indices, class... Entries>
struct Leaves;
template <auto layer, FixedString given_name>
struct Entry {};
template <int... i, auto... layer, FixedString... given_name>
struct Leaves<std::integer_sequence<int, i...>, Entry<layer, given_name>...> : Leaf<i, layer, given_name>... {};
template <int i, auto layer, FixedString given_name>
Leaf<i, layer, given_name> pick(Leaf<i, layer, given_name>*);

template <class... Entries>
struct LayerList {
  static constexpr int size = sizeof...(Entries);
  template <int i>
  using at = decltype(pick<i>(static_cast<Leaves<std::make_integer_sequence<int, size>, Entries...>*>(nullptr)));
};
template <class... As, class... Bs>
LayerList<As..., Bs...> operator+(LayerList<As...>, LayerList<Bs...>);

template <class L>
struct Flattened;
template <auto layer, FixedString given_name = "">
struct Single {
  using type = LayerList<Entry<layer, given_name>>;
};
template <Layer auto... layers>
struct Flattened<Sequential<layers...>>;
template <auto layer, class L = std::remove_cvref_t<decltype(layer)>>
struct Expanded : Single<layer> {};
template <auto value, FixedString given_name, Layer auto layer>
struct Expanded<value, Named<given_name, layer>> : Single<layer, given_name> {};
template <auto value, Layer auto... layers>
struct Expanded<value, Sequential<layers...>> : Flattened<Sequential<layers...>> {};

template <Layer auto... layers>
struct Flattened<Sequential<layers...>> {
  using type = decltype((LayerList<>{} + ... + typename Expanded<layers>::type{}));
};

}  // namespace detail
}  // namespace coldpress
