// Networks as functions: the values in them, the operations on values, and the function as a type.
#pragma once

#include <coldpress/graph/graph_builder.hpp>
#include <coldpress/graph/recording.hpp>

namespace coldpress {

/// A value of a network while its function runs. `Recorder` records what is done with it.
template <class Recorder>
struct Value {
  Recorder* recorder;
  int node;
  /// The shape of one sample.
  constexpr Shape shape() const { return recorder->shape(node); }
};

namespace detail {

template <class Recorder, class L, std::size_t n>
constexpr Value<Recorder> add(L const& layer, std::array<Value<Recorder>, n> const& inputs, Recorder* recorder,
                              Sharing sharing = {}) {
  if constexpr (!requires { Recorder::accepts_any_type; })
    static_assert(index_of<L>(typename Recorder::Types{}) >= 0,
                  "graph: the function uses a layer that is not built in: name it, as in graph<Snake>(...)");
  int nodes[n > 0 ? n : 1] = {};
  for (std::size_t k = 0; k < n; ++k) nodes[k] = inputs[k].node;
  return {recorder, recorder->add(layer, View<int const>{nodes, n}, sharing)};
}

}  // namespace detail

/// Applies a layer to values. The result of a loss or a statistic can only be given a name.
template <class L, class Recorder, class... More>
constexpr Value<Recorder> apply(L const& layer, Value<Recorder> first, More... more) {
  return detail::add(layer, std::array{first, more...}, first.recorder);
}
/// The output of a layer without inputs, in the network that x belongs to.
template <class L, class Recorder>
requires Source<L>
constexpr Value<Recorder> source(L const& layer, Value<Recorder> x) {
  return detail::add(layer, std::array<Value<Recorder>, 0>{}, x.recorder);
}

namespace detail {
template <class L>
concept PlainLayer = FollowsOne<L> && !requires {
  L::is_container;
}
&&!requires { L::inner; };
}  // namespace detail

/// Applies a layer: x | layer.
template <class Recorder, detail::PlainLayer L>
constexpr Value<Recorder> operator|(Value<Recorder> x, L const& layer) {
  return detail::add(layer, std::array{x}, x.recorder);
}

/// What is not a layer with one input is refused where layers are counted (typed/diagnosis.hpp), because a compiler
/// would answer a missing operator with a list of all operators.
template <class Recorder, class L>
requires(!detail::PlainLayer<L> && requires { Recorder::accepts_any_type; }) constexpr Value<Recorder> operator|(
    Value<Recorder> x, L const& layer) {
  return detail::add(layer, std::array{x}, x.recorder);
}

/// Names the layer that produces x, or an input: x | name("scores").
struct NameTag {
  std::string_view text;
};
constexpr NameTag name(std::string_view text) { return {text}; }
template <class Recorder>
constexpr Value<Recorder> operator|(Value<Recorder> x, NameTag tag) {
  x.recorder->name(x.node, tag.text);
  return x;
}

/// A name of several parts, texts and whole numbers, for the layers of a function that may be used more than once in a
/// network: x | suggested_name("block", i, ".conv"). The name is dropped if another layer already has it, or if this
/// layer already has one.
struct SuggestedName {
  Name text = {};
};
template <class... Parts>
constexpr SuggestedName suggested_name(Parts const&... parts) {
  Name text;
  auto const append = [&](auto const& part) {
    if constexpr (std::is_integral_v<std::remove_cvref_t<decltype(part)>>) {
      text.append(Digits{static_cast<long long>(part)}.view());
    } else {
      text.append(part);
    }
  };
  (append(parts), ...);
  return {Name{text.view()}};
}
template <class Recorder>
constexpr Value<Recorder> operator|(Value<Recorder> x, SuggestedName const& tag) {
  x.recorder->suggest_name(x.node, tag.text);
  return x;
}

/// Shares parameters: x | shared("step", Linear{64}). All layers with the same key have the parameters of the first.
template <class L>
struct SharedTag {
  std::string_view key;
  L layer;
};
template <class L>
constexpr SharedTag<L> shared(std::string_view key, L const& layer) {
  return {key, layer};
}
template <class Recorder, class L>
constexpr Value<Recorder> operator|(Value<Recorder> x, SharedTag<L> const& tag) {
  return detail::add(tag.layer, std::array{x}, x.recorder, {.key = tag.key});
}

/// A layer that is used more than once, always with the same parameters: Handle encode{Linear{64}}; a | encode; b |
/// encode.
template <class L>
struct Handle {
  L layer;
  int node = -1;  // its first use
  constexpr explicit Handle(L const& l) : layer(l) {}
};
template <class Recorder, class L>
constexpr Value<Recorder> operator|(Value<Recorder> x, Handle<L>& handle) {
  auto const made = detail::add(handle.layer, std::array{x}, x.recorder, {.node = handle.node});
  if (handle.node < 0) handle.node = made.node;
  return made;
}

/// The return value of a function with several outputs.
template <class Recorder, class... More>
constexpr auto outputs(Value<Recorder> first, More... more) {
  return std::array{first, more...};
}

/// A network's function: a lambda without captures, and the layers that it may use. graph(...) makes it.
template <class Function, class List>
struct Expression {
  using Layers = List;
  using Written = Function;
  template <class... Recorders>
  requires std::is_invocable_v<Function, Value<Recorders>...>
  constexpr auto operator()(Value<Recorders>... inputs) const { return Function{}(inputs...); }
  bool operator==(Expression const&) const = default;
};

/// The shapes of a network's inputs: Shape{784}, or Inputs{Shape{784}, Shape{1}}.
struct Inputs {
  Shape shapes[max_network_inputs] = {};
  int count = 0;
  constexpr Inputs(Shape const& shape) : shapes{shape}, count(1) {}
  /// Constructs it from its members. nvcc writes template arguments in this form.
  constexpr Inputs(Shape const (&all)[max_network_inputs], int given) : count(given) {
    for (int k = 0; k < max_network_inputs; ++k) shapes[k] = all[k];
  }
  template <class... More>
  requires(sizeof...(More) > 0 && (std::is_same_v<More, Shape> && ...)) constexpr Inputs(Shape const& first,
                                                                                         More const&... more)
      : shapes{first, more...}, count(1 + static_cast<int>(sizeof...(More))) {}
  constexpr Shape const& operator[](int k) const { return shapes[k]; }
  bool operator==(Inputs const&) const = default;
};

/// The network of a function as a type. With one input and one output it is itself a layer.
template <auto expression>
struct Graph {
  static constexpr bool is_container = true;
  static constexpr std::string_view name = "graph";
  static constexpr auto function = expression;
  constexpr Shape output_shape(Shape in) const;
  bool operator==(Graph const&) const = default;
};
template <class Recorder, auto expression>
constexpr auto operator|(Value<Recorder> x, Graph<expression> const&) {
  return expression(x);
}
template <class Recorder, class Function, class List>
constexpr auto operator|(Value<Recorder> x, Expression<Function, List> const& function) {
  return function(x);
}

}  // namespace coldpress
