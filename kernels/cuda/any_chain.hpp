// Pointwise operations that are known only at run time, as a kernel's argument: their kinds and their numbers.
#pragma once

#include <coldpress/core/pass.hpp>
#include <coldpress/layers.hpp>

namespace coldpress::cuda {

/// Calls f.operator()<L>() with the built-in pointwise layer L that has this operation_id.
template <class F>
constexpr void visit_pointwise(int id, F const& f) {
  for_each_indexed(BuiltinLayers{}, [&]<class L>(auto index, L*) {
    if constexpr (PointwiseLayer<L>) {
      if (id == index) f.template operator()<L>();
    }
  });
}
template <class L>
using OpOf = decltype(L{}.op(0));

/// The operation of one of the built-in pointwise layers.
struct AnyOp {
  static constexpr std::size_t size = 24;
  int id;  // the same as ErasedOp::id
  alignas(8) unsigned char bytes[size];

  template <class Op>
  constexpr Op as() const {
    static_assert(sizeof(Op) <= size && std::is_trivially_copyable_v<Op>);
    Op op;
    __builtin_memcpy(&op, bytes, sizeof op);
    return op;
  }
  constexpr float value(float x, Position at) const {
    float y = x;
    visit_pointwise(id, [&]<class L>() { y = as<OpOf<L>>().value(x, at); });
    return y;
  }
  constexpr float gradient(float x, float y, Position at) const {
    float derivative = 0;
    visit_pointwise(id, [&]<class L>() { derivative = as<OpOf<L>>().gradient(x, y, at); });
    return derivative;
  }
};

/// A Chain whose operations are known only at run time.
struct AnyChain {
  AnyOp ops[max_chain_length];
  int length = 0;

  constexpr float value(float x, Position at) const {
    for (int n = 0; n < length; ++n) x = ops[n].value(x, at);
    return x;
  }
  constexpr float gradient(float x, float y, Position at) const {
    float values[max_chain_length + 1] = {x};
    for (int n = 0; n + 1 < length; ++n) values[n + 1] = ops[n].value(values[n], at);
    float derivative = 1;
    for (int n = length - 1; n >= 0; --n) {
      derivative *= ops[n].gradient(values[n], y, at);
      y = values[n];
    }
    return derivative;
  }
};

/// The operation of one of the built-in join layers.
struct AnyJoin {
  int id;  // the same as ErasedJoin::id
  constexpr float value(float a, float b) const {
    float y = a;
    for_each_indexed(BuiltinLayers{}, [&]<class L>(auto index, L*) {
      if constexpr (JoinLayer<L>) {
        if (id == index) y = decltype(L{}.join()){}.value(a, b);
      }
    });
    return y;
  }
};

using AnyPostOps = PostOps<AnyChain, float, BinaryPostOp<AnyJoin, float>>;
using AnyDerivative = Derivative<AnyChain, float>;

// On the host, type-erased operations are pointers (core/pointwise.hpp); here they are copied into a kernel's
// arguments.
inline AnyChain chain_of(ErasedChain const& erased) {
  require(erased.length <= max_chain_length, "network: a chain has more than 8 operations");
  AnyChain chain{};
  chain.length = erased.length;
  for (int n = 0; n < erased.length; ++n) {
    if (erased.ops[n].id < 0) throw UnsupportedError{"network: a pointwise operation has no GPU kernel"};
    chain.ops[n].id = erased.ops[n].id;
    visit_pointwise(erased.ops[n].id,
                    [&]<class L>() { __builtin_memcpy(chain.ops[n].bytes, erased.ops[n].op, sizeof(OpOf<L>)); });
  }
  return chain;
}
/// The step if an operation draws random numbers, else a constant, so that a kernel's arguments stay the same.
inline std::uint64_t step_for(ErasedChain const& erased, std::uint64_t step) {
  bool draws = false;
  for (int n = 0; n < erased.length; ++n) {
    visit_pointwise(erased.ops[n].id, [&]<class L>() {
      draws = draws || requires { L{}.op(0).key; };
    });
  }
  return draws ? step : 0;
}
inline AnyPostOps post_ops_of(PostOps<ErasedChain, float> const& post_ops) {
  return {chain_of(post_ops.chain),
          step_for(post_ops.chain, post_ops.step),
          post_ops.kept,
          post_ops.kept_pitch,
          {AnyJoin{post_ops.join.op.id}, post_ops.join.other, post_ops.join.pitch, post_ops.join.columns}};
}
inline AnyDerivative derivative_of(Derivative<ErasedChain, float> const& derivative) {
  return {chain_of(derivative.chain), step_for(derivative.chain, derivative.step),
          derivative.input,           derivative.input_pitch,
          derivative.output,          derivative.output_pitch};
}

}  // namespace coldpress::cuda
