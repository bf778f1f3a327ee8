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

namespace detail {
template <class L>
concept SingleLayer = requires(L const& layer) {
  layer.output_shape({});
}
&&!requires(L const& layer) { layer.is_container; };

/// A layer with something said about it.
template <Layer auto layer>
struct Wrapped {
  using Inner = std::remove_cvref_t<decltype(layer)>;
  static constexpr auto inner = layer;
  static constexpr std::string_view name = Inner::name;
  constexpr Shape output_shape(Shape in) const { return layer.output_shape(in); }
  bool operator==(Wrapped const&) const = default;
};
}  // namespace detail

/// A layer with a name of your choice: Sequential<Named<"fc1", Linear{128}>{}, ReLU{}>. Others are called linear1,
/// relu1, linear2, ...
template <FixedString text, Layer auto layer>
struct Named : detail::Wrapped<layer> {
  using Inner = typename Named::Wrapped::Inner;
  static_assert(
      detail::SingleLayer<Inner> && !requires { Inner::given_name; },
      "Named: takes a single layer, neither a Sequential nor a Named");
  static constexpr std::string_view given_name = text.view();
  bool operator==(Named const&) const = default;
};

/// A layer whose parameters are those of the first layer that is Shared under the same key: Sequential<Shared<"step",
/// Linear{64}>{}, TanH{}, Shared<"step", Linear{64}>{}>. Gradients add up; filler and factors are the first one's.
template <FixedString text, Layer auto layer>
struct Shared : detail::Wrapped<layer> {
  using Inner = typename Shared::Wrapped::Inner;
  static_assert(
      detail::SingleLayer<Inner> && !requires { Inner::inner; },
      "Shared: takes a single layer, neither a Sequential nor a Named nor a Shared");
  static constexpr std::string_view share_name = text.view();
  bool operator==(Shared const&) const = default;
};

namespace detail {

// A flat list of layers as values in a type; at<i> finds one by overload resolution, without recursion.
template <auto layer, FixedString given_name, FixedString share_name>
struct Entry {
  static constexpr auto value = layer;
  static constexpr std::string_view name = given_name.view(), share = share_name.view();
};
template <int i, class E>
struct Leaf {};
template <class Indices, class... Entries>
struct Leaves;
template <int... i, class... Entries>
struct Leaves<std::integer_sequence<int, i...>, Entries...> : Leaf<i, Entries>... {};
template <int i, class E>
E pick(Leaf<i, E>*);

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
template <auto layer, FixedString given_name = "", FixedString share_name = "">
struct Single {
  using type = LayerList<Entry<layer, given_name, share_name>>;
};
template <Layer auto... layers>
struct Flattened<Sequential<layers...>>;
template <auto layer, class L = std::remove_cvref_t<decltype(layer)>>
struct Expanded : Single<layer> {};
template <auto layer, FixedString given_name, class L = std::remove_cvref_t<decltype(layer)>>
struct WithName : Single<layer, given_name> {};
template <auto value, FixedString given_name, FixedString share_name, Layer auto layer>
struct WithName<value, given_name, Shared<share_name, layer>> : Single<layer, given_name, share_name> {};
template <auto value, FixedString given_name, Layer auto layer>
struct Expanded<value, Named<given_name, layer>> : WithName<layer, given_name> {};
template <auto value, FixedString share_name, Layer auto layer>
struct Expanded<value, Shared<share_name, layer>> : WithName<value, ""> {};
template <auto value, Layer auto... layers>
struct Expanded<value, Sequential<layers...>> : Flattened<Sequential<layers...>> {};

template <Layer auto... layers>
struct Flattened<Sequential<layers...>> {
  using type = decltype((LayerList<>{} + ... + typename Expanded<layers>::type{}));
};

}  // namespace detail
}  // namespace coldpress
