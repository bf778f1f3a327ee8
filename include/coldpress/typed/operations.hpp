// The functions and operators for writing networks: graph(...), arithmetic, and functions of several values.
#pragma once

#include <coldpress/layers.hpp>
#include <coldpress/typed/sequential.hpp>

namespace coldpress {

/// All layers that a function may use. It is a type with a name of its own, for short messages of the compiler.
template <class... More>
struct LayersOfGraph : detail::Union<typename BuiltinLayers::Plain, typename BuiltinLosses::Plain,
                                     typename BuiltinStatistics::Plain, TypeList<More...>>::type {};

/// Makes a network from an ordinary function of its inputs, which the compiler runs: constexpr auto net = graph([](auto
/// image) { return image | Linear{10}; }), and then Network<Graph<net>, Shape{784}>. `More` are the layers that are not
/// built in.
template <class... More, class Function>
constexpr auto graph(Function) {
  return Expression<Function, LayersOfGraph<More...>>{};
}

/// The shape of two values that are joined, as NumPy broadcasts them; {} if they do not fit.
constexpr Shape broadcast(Shape const& a, Shape const& b) {
  Shape const &longer = a.rank() < b.rank() ? b : a, &other = a.rank() < b.rank() ? a : b;
  Shape all = longer;
  int const more = longer.rank() - other.rank();
  for (int axis = 0; axis < other.rank(); ++axis) {
    if (all[axis + more] == 1) all.extents[axis + more] = other[axis];
  }
  return expands_to(a, all) && expands_to(b, all) ? all : Shape{};
}
/// Joins two values. An axis of one that has the extent 1 or is missing is repeated (Expand).
template <class Join, class Recorder>
constexpr auto joined(Join const& join, Value<Recorder> a, Value<Recorder> b) {
  if (Shape const all = broadcast(a.shape(), b.shape()); all.rank() > 0) {
    if (a.shape() != all) a = a | Expand{all};
    if (b.shape() != all) b = b | Expand{all};
  }
  return apply(join, a, b);
}

// Element-wise operations on two values.
template <class Recorder>
constexpr auto operator+(Value<Recorder> a, Value<Recorder> b) {
  return joined(Add{}, a, b);
}
template <class Recorder>
constexpr auto operator-(Value<Recorder> a, Value<Recorder> b) {
  return joined(Subtract{}, a, b);
}
template <class Recorder>
constexpr auto operator*(Value<Recorder> a, Value<Recorder> b) {
  return joined(Multiply{}, a, b);
}
template <class Recorder>
constexpr auto operator/(Value<Recorder> a, Value<Recorder> b) {
  return joined(Divide{}, a, b);
}
// Operations on a value and a number.
template <class Recorder>
constexpr auto operator*(Value<Recorder> a, float factor) {
  return a | Power{.scale = factor};
}
template <class Recorder>
constexpr auto operator*(float factor, Value<Recorder> a) {
  return a * factor;
}
template <class Recorder>
constexpr auto operator+(Value<Recorder> a, float shift) {
  return a | Power{.shift = shift};
}
template <class Recorder>
constexpr auto operator-(Value<Recorder> a, float shift) {
  return a + -shift;
}
template <class Recorder>
constexpr auto operator-(Value<Recorder> a) {
  return a * -1.0f;
}
template <class Recorder>
constexpr auto operator+(float shift, Value<Recorder> a) {
  return a + shift;
}
template <class Recorder>
constexpr auto operator-(float from, Value<Recorder> a) {
  return a | Power{.scale = -1, .shift = from};
}
/// a times 1 / divisor, which is rounded to a float.
template <class Recorder>
constexpr auto operator/(Value<Recorder> a, float divisor) {
  return a * (1 / divisor);
}
template <class Recorder>
constexpr auto operator/(float dividend, Value<Recorder> a) {
  return (a | Power{.power = -1}) * dividend;
}

/// Concatenates values along the first axis, or along the axis given by `along(axis)` as the first argument.
struct along {
  int axis = 0;
  constexpr explicit along(int a) : axis(a) {}
};
template <class Recorder, class... More>
constexpr auto concat(along axis, Value<Recorder> first, More... more) {
  return apply(Concat{.axis = axis.axis}, first, more...);
}
template <class Recorder, class... More>
constexpr auto concat(Value<Recorder> first, More... more) {
  return concat(along{0}, first, more...);
}
/// The range [begin, end) of an axis.
template <class Recorder>
constexpr auto slice(Value<Recorder> x, int begin, int end, along axis = along{0}) {
  return x | Slice{.axis = axis.axis, .begin = begin, .end = end};
}
/// `parts` equal slices of an axis, in order: auto [q, k, v] = split<3>(x).
template <std::size_t parts, class Recorder>
constexpr auto split(Value<Recorder> x, along axis = along{0}) {
  Shape const shape = x.shape();
  int const a = axis.axis < 0 ? axis.axis + shape.rank() : axis.axis;
  require(a >= 0 && a < shape.rank(), "split: the value does not have this axis");
  require(shape[a] % static_cast<Index>(parts) == 0, "split: the parts would not be equal");
  std::array<Value<Recorder>, parts> all{};
  int const size = static_cast<int>(shape[a]) / static_cast<int>(parts);
  for (std::size_t k = 0; k < parts; ++k) {
    int const begin = static_cast<int>(k) * size;
    all[k] = slice(x, begin, begin + size, along{a});
  }
  return all;
}
/// The sum or mean over an axis, which is removed.
template <class Recorder>
constexpr auto sum(Value<Recorder> x, int axis = 0) {
  return x | Reduce{.operation = ReduceOperation::sum, .axis = axis};
}
template <class Recorder>
constexpr auto mean(Value<Recorder> x, int axis = 0) {
  return x | Reduce{.operation = ReduceOperation::mean, .axis = axis};
}
/// The matrix product, optionally with the second matrix transposed.
template <class Recorder>
constexpr auto matmul(Value<Recorder> a, Value<Recorder> b, MatMul options = {}) {
  return apply(options, a, b);
}

/// Attention of the queries q to the keys k and values v, all {steps, features}; `more` may be a mask or the number of
/// keys. If queries, keys and values are one value, side by side, write x | ScaledDotProductAttention{...}.
template <class Recorder, class... More>
constexpr auto attention(ScaledDotProductAttention const& options, Value<Recorder> q, Value<Recorder> k,
                         Value<Recorder> v, More... more) {
  return apply(options, q, k, v, more...);
}

/// Decodes with tied weights: code | tied(encoded) has the size of the input of the Linear that made `encoded`, and
/// uses its weights.
template <class Recorder>
struct TiedTag {
  Value<Recorder> encoded;
  TiedLinear layer;
};
template <class Recorder>
constexpr TiedTag<Recorder> tied(Value<Recorder> encoded, TiedLinear options = {}) {
  options.output_size = encoded.recorder->input_size(encoded.node);
  return {encoded, options};
}
template <class Recorder>
constexpr auto operator|(Value<Recorder> x, TiedTag<Recorder> const& tag) {
  return detail::add(tag.layer, std::array{x}, x.recorder, {.node = tag.encoded.node, .parameters = 1});
}

}  // namespace coldpress
