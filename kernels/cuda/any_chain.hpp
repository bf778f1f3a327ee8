// Pointwise operations of a network that is known only at run time, as a kernel's argument: which one, and its numbers.
#pragma once

#include <coldpress/backend/backend.hpp>
#include <coldpress/layers.hpp>

namespace coldpress::cuda {

namespace detail {
/// Calls f(number as a constant, type) for each type of the list.
template <class... Types, class F>
constexpr void for_each_numbered(TypeList<Types...>, F f) {
  [&]<int... n>(std::integer_sequence<int, n...>) {
    (f(std::integral_constant<int, n>{}, static_cast<Types*>(nullptr)), ...);
  }
  (std::make_integer_sequence<int, static_cast<int>(sizeof...(Types))>{});
}
/// The place of a layer among the built-in ones.
template <class L, class... Layers>
constexpr int number_in(TypeList<Layers...>) {
  int number = -1, n = 0;
  ((std::is_same_v<L, Layers> ? static_cast<void>(number = n) : static_cast<void>(0), ++n), ...);
  return number;
}
}  // namespace detail
template <class L>
inline constexpr int number_of = detail::number_in<L>(BuiltinLayers{});

/// The operation of one of the built-in pointwise layers.
struct AnyOp {
  static constexpr std::size_t size = 24;
  int layer;
  alignas(8) unsigned char bytes[size];

  template <class Op>
  constexpr Op as() const {
    static_assert(sizeof(Op) <= size && std::is_trivially_copyable_v<Op>);
    Op op;
    __builtin_memcpy(&op, bytes, sizeof op);
    return op;
  }
  constexpr float value(float x, At at) const {
    float y = x;
    visit([&](auto const& op) { y = op.value(x, at); });
    return y;
  }
  constexpr float gradient(float x, float y, At at) const {
    float slope = 0;
    visit([&](auto const& op) { slope = op.gradient(x, y, at); });
    return slope;
  }

 private:
  template <class F>
  constexpr void visit(F const& f) const {
    detail::for_each_numbered(BuiltinLayers{}, [&]<class L>(auto number, L*) {
      if constexpr (PointwiseLayer<L>) {
        if (layer == number) f(as<decltype(L{}.op(0))>());
      }
    });
  }
};

/// A Chain whose operations are known only at run time.
struct AnyChain {
  AnyOp ops[max_chain_length];
  int length = 0;

  constexpr float value(float x, At at) const {
    for (int n = 0; n < length; ++n) x = ops[n].value(x, at);
    return x;
  }
  constexpr float gradient(float x, float y, At at) const {
    float values[max_chain_length + 1] = {x};
    for (int n = 0; n + 1 < length; ++n) values[n + 1] = ops[n].value(values[n], at);
    float slope = 1;
    for (int n = length - 1; n >= 0; --n) {
      slope *= ops[n].gradient(values[n], y, at);
      y = values[n];
    }
    return slope;
  }
};

/// The operation of one of the built-in joins.
struct AnyJoin {
  int layer;
  constexpr float value(float a, float b) const {
    float y = a;
    detail::for_each_numbered(BuiltinLayers{}, [&]<class L>(auto number, L*) {
      if constexpr (JoinLayer<L>) {
        if (layer == number) y = decltype(L{}.join()){}.value(a, b);
      }
    });
    return y;
  }
};

using AnyThen = Then<AnyChain, float, With<AnyJoin, float>>;
using AnySlope = Slope<AnyChain, float>;

// On the host such operations are pointed to (core/pointwise.hpp): an operation's `value` tells which it is. It really
// is that: linkers may fold functions of the same code.
namespace detail {
template <class L>
void value_of(void const* op, float* x, ErasedOp::Block block, At at) {
  for (Index i = 0; i < block.rows; ++i) {
    for (Index j = 0; j < block.columns; ++j) {
      float& value = x[i * block.pitch + j];
      value = static_cast<decltype(L{}.op(0)) const*>(op)->value(value, At{at.row + i, at.column + j, at.step});
    }
  }
}
template <class L>
void value_of_join(void const* op, float* x, float const* other, Index pitch, Index, ErasedOp::Block block) {
  for (Index i = 0; i < block.rows; ++i) {
    for (Index j = 0; j < block.columns; ++j) {
      float& value = x[i * block.pitch + j];
      value = static_cast<decltype(L{}.join()) const*>(op)->value(value, other[i * pitch + j]);
    }
  }
}
}  // namespace detail
template <class L>
constexpr ErasedOp erased_op_of() {
  return {nullptr, detail::value_of<L>, nullptr, decltype(L{}.op(0))::needs_input};
}
template <class L>
constexpr ErasedJoin erased_join_of() {
  return {nullptr, detail::value_of_join<L>};
}
inline AnyChain chain_of(ErasedChain const& erased) {
  require(erased.length <= max_chain_length, "network: a chain of more than 8 operations");
  AnyChain chain{};
  chain.length = erased.length;
  for (int n = 0; n < erased.length; ++n) {
    chain.ops[n].layer = -1;
    detail::for_each_numbered(BuiltinLayers{}, [&]<class L>(auto number, L*) {
      if constexpr (PointwiseLayer<L>) {
        if (erased.ops[n].value != detail::value_of<L>) return;
        chain.ops[n].layer = number;
        __builtin_memcpy(chain.ops[n].bytes, erased.ops[n].op, sizeof(decltype(L{}.op(0))));
      }
    });
    if (chain.ops[n].layer < 0) throw UnsupportedError{"network: an operation is none of a GPU's"};
  }
  return chain;
}
/// The step, where an operation draws random numbers; for the others it is no number that changes.
inline std::uint64_t step_for(ErasedChain const& erased, std::uint64_t step) {
  bool draws = false;
  for (int n = 0; n < erased.length; ++n) {
    detail::for_each_numbered(BuiltinLayers{}, [&]<class L>(auto, L*) {
      if constexpr (PointwiseLayer<L>) {
        if constexpr (requires { L{}.op(0).key; }) draws = draws || erased.ops[n].value == detail::value_of<L>;
      }
    });
  }
  return draws ? step : 0;
}
inline AnyThen then_of(Then<ErasedChain, float> const& then) {
  AnyJoin join{-1};
  detail::for_each_numbered(BuiltinLayers{}, [&]<class L>(auto number, L*) {
    if constexpr (JoinLayer<L>) {
      if (then.join.op.value == detail::value_of_join<L>) join.layer = number;
    }
  });
  return {chain_of(then.chain),
          step_for(then.chain, then.step),
          then.kept,
          then.kept_pitch,
          {join, then.join.other, then.join.pitch, then.join.columns}};
}
inline AnySlope slope_of(Slope<ErasedChain, float> const& slope) {
  return {chain_of(slope.chain), step_for(slope.chain, slope.step), slope.input, slope.input_pitch, slope.output,
          slope.output_pitch};
}

}  // namespace coldpress::cuda
