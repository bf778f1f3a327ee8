// Sequential: layers one after the other, as a type. It is itself a layer, so it can be nested.
#pragma once

#include <coldpress/typed/expression.hpp>

namespace coldpress {

template <auto... layers>
struct Sequential {
  static constexpr bool is_container = true;
  static constexpr std::string_view name = "sequential";

  constexpr Shape output_shape(Shape in) const {
    ((in = layers.output_shape(in)), ...);
    return in;
  }
  bool operator==(Sequential const&) const = default;
};

namespace detail {
template <class L>
concept SingleLayer = FollowsOne<L> && !requires {
  L::is_container;
};

/// A layer with a setting that belongs to the network.
template <Layer auto layer>
struct Wrapped {
  using Inner = std::remove_cvref_t<decltype(layer)>;
  static constexpr auto inner = layer;
  static constexpr std::string_view name = Inner::name;
  constexpr Shape output_shape(Shape in) const { return output_shape_of(layer, Shapes{&in, 1}); }
  bool operator==(Wrapped const&) const = default;
};
}  // namespace detail

/// A layer with a given name: Sequential<Named<"fc1", Linear{128}>{}, ReLU{}>. Other layers are called linear1, relu1,
/// linear2, ...
template <FixedString text, Layer auto layer>
struct Named : detail::Wrapped<layer> {
  using Inner = typename Named::Wrapped::Inner;
  static_assert(
      detail::SingleLayer<Inner> && !requires { Inner::given_name; },
      "Named: takes a single layer, neither a Sequential nor a Named");
  static constexpr std::string_view given_name = text.view();
  bool operator==(Named const&) const = default;
};

/// A layer with the parameters of the first layer that is Shared under the same key: Sequential<Shared<"step",
/// Linear{64}>{}, TanH{}, Shared<"step", Linear{64}>{}>. Their gradients are added. Filler and multipliers are those of
/// the first.
template <FixedString text, Layer auto layer>
struct Shared : detail::Wrapped<layer> {
  using Inner = typename Shared::Wrapped::Inner;
  static_assert(
      detail::SingleLayer<Inner> && !requires { Inner::inner; },
      "Shared: takes a single layer, neither a Sequential nor a Named nor a Shared");
  static constexpr std::string_view share_name = text.view();
  bool operator==(Shared const&) const = default;
};

template <class Recorder, FixedString text, auto layer>
constexpr Value<Recorder> operator|(Value<Recorder> x, Named<text, layer> const&) {
  return x | layer | name(text.view());
}
template <class Recorder, FixedString text, auto layer>
constexpr Value<Recorder> operator|(Value<Recorder> x, Shared<text, layer> const&) {
  return x | shared(text.view(), layer);
}
template <class Recorder, auto... layers>
constexpr auto operator|(Value<Recorder> x, Sequential<layers...> const&) {
  return (x | ... | layers);
}

namespace detail {

/// The types of the layers that a network may use, each once.
template <class List, class L>
struct With1;
template <class... Types, class L>
struct With1<TypeList<Types...>, L> {
  using type = std::conditional_t<(std::is_same_v<Types, L> || ...), TypeList<Types...>, TypeList<Types..., L>>;
};
template <class List, class... More>
struct Union {
  using type = List;
};
template <class List, class L, class... More>
struct Union<List, L, More...> : Union<typename With1<List, L>::type, More...> {};
template <class List, class... Types, class... More>
struct Union<List, TypeList<Types...>, More...> : Union<typename Union<List, Types...>::type, More...> {};

template <class L>
struct LayersOf {
  using type = TypeList<L>;
};
template <class L>
requires requires { L::inner; }
struct LayersOf<L> : LayersOf<std::remove_cvref_t<decltype(L::inner)>> {};
template <auto expression>
struct LayersOf<Graph<expression>> {
  using type = typename decltype(Graph<expression>::function)::Layers::Plain;
};
/// The list of a network's layers: for a function the type with a short name.
template <class Net>
struct ListOf : LayersOf<Net> {};
template <auto expression>
struct ListOf<Graph<expression>> {
  using type = typename decltype(Graph<expression>::function)::Layers;
};
template <auto... layers>
struct LayersOf<Sequential<layers...>>
    : Union<TypeList<>, typename LayersOf<std::remove_cvref_t<decltype(layers)>>::type...> {};

template <class Recorder>
constexpr void add_outputs(Value<Recorder> result) {
  result.recorder->add_output(result.node);
}
template <class Recorder, std::size_t n>
constexpr void add_outputs(std::array<Value<Recorder>, n> const& results) {
  for (auto const& result : results) add_outputs(result);
}

/// Runs a network's function.
template <class Net, int inputs, class Recorder>
constexpr void record(Recorder& recorder, Inputs const& in) {
  std::array<Value<Recorder>, inputs> values{};
  for (int k = 0; k < inputs; ++k) values[static_cast<std::size_t>(k)] = {&recorder, recorder.add_input(in[k])};
  if constexpr (requires { Net::function; }) {
    [&]<std::size_t... k>(std::index_sequence<k...>) { add_outputs(Net::function(values[k]...)); }
    (std::make_index_sequence<inputs>{});
  } else {
    static_assert(inputs == 1, "network: a Sequential has one input; use a Graph for several");
    add_outputs(values[0] | Net{});
  }
}

}  // namespace detail

template <auto expression>
constexpr Shape Graph<expression>::output_shape(Shape in) const {
  detail::Counter<typename decltype(function)::Layers> counter{};
  auto const result = expression(Value<decltype(counter)>{&counter, counter.add_input(in)});
  return result.shape();
}

}  // namespace coldpress
