// What a network's function is written with, beside the layers: graph(...), operators, and functions of several values.
#pragma once

#include <coldpress/graph/sequential.hpp>
#include <coldpress/layers.hpp>

namespace coldpress {

/// A network as an ordinary function of its inputs, which the compiler runs: constexpr auto net = graph([](auto image)
/// { return image | Linear{10}; }), a network as Network<Graph<net>, Shape{784}>. `More`: layers that are not built in.
template <class... More, class Function>
constexpr auto graph(Function) {
  using All = typename detail::Union<BuiltinLayers, BuiltinLosses, BuiltinStatistics, TypeList<More...>>::type;
  return Expression<Function, All>{};
}

template <class Recorder>
constexpr auto operator+(Value<Recorder> a, Value<Recorder> b) {
  return apply(Add{}, a, b);
}
template <class Recorder>
constexpr auto operator-(Value<Recorder> a, Value<Recorder> b) {
  return apply(Subtract{}, a, b);
}
template <class Recorder>
constexpr auto operator*(Value<Recorder> a, Value<Recorder> b) {
  return apply(Multiply{}, a, b);
}
template <class Recorder>
constexpr auto operator/(Value<Recorder> a, Value<Recorder> b) {
  return apply(Divide{}, a, b);
}

}  // namespace coldpress
