// The types that layers and backends exchange.
#pragma once

// A backend is a type with the primitives that backend/concept.hpp lists. Matrices are Rows,
// with one row per sample, and parameters are in the backend's own layout.

#include <coldpress/core/geometry.hpp>
#include <coldpress/core/layer.hpp>

#include <limits>

namespace coldpress {

/// Whether a backend can keep images in blocks (core/rows.hpp).
template <class Backend>
constexpr bool keeps_blocks = requires {
  requires Backend::keeps_blocks;
};

/// Whether a backend computes layers, losses and statistics as a whole, instead of having their own functions called.
/// This is for values that are in the memory of a device.
template <class Backend>
constexpr bool takes_layers = requires {
  requires std::remove_cvref_t<Backend>::takes_layers;
};

/// Whether a backend has kernels for the loops of layers of a type. It then has functions that are given the layer and
/// the pass.
template <class Backend, class L>
constexpr bool has_loops = requires {
  requires std::remove_cvref_t<Backend>::template has_loops<L>;
};

/// Whether a backend adds a gradient to the one that is already in dx where a Derivative asks for that.
template <class Backend>
constexpr bool adds_in_place = requires {
  requires Backend::adds_in_place;
};

/// Whether a backend's kernels receive their shapes and operations as run-time arguments.
template <class Backend>
constexpr bool is_linked = requires {
  requires std::remove_cvref_t<Backend>::linked;
};

/// Whether a backend compiles its kernels for every network type, and then only those that the network needs.
template <class Backend>
constexpr bool compiles_variants = requires {
  requires std::remove_cvref_t<Backend>::compiles_variants;
};
/// Whether a backend computes blocks of a stream's steps as signals (core/rows.hpp). Otherwise layers are given one
/// step after another.
template <class Backend>
constexpr bool has_signals = requires {
  requires std::remove_cvref_t<Backend>::has_signals;
};
/// What a layer's member variant<PassKind>(in) returns decides which kernels it needs, for instance the gates of a
/// recurrent layer. A network type gives it to the pass as a constant, Pass::Variant::value, for a backend with
/// compiles_variants, and if it is a bool or an enumerator, for every backend that compiles networks; a GPU's passes
/// get the variant of a stream instead if that has a type of its own. Otherwise, and for layers without this member,
/// Pass::Variant is NoVariant.
struct NoVariant {};
/// If a layer also has sizes<PassKind, variant>(in), kernels that are compiled for one network are told which sizes
/// there are: Pass::Variant::sizes has those of all of its layers of the same type and variant, each once, unless there
/// are so many that it is missing. What sizes returns is a structural type with == and a default constructor.
template <auto of_layer, auto of_network>
struct SizedVariant : std::integral_constant<std::remove_const_t<decltype(of_layer)>, of_layer> {
  static constexpr auto const& sizes = of_network;
};
/// A stream is a forward pass with a state.
enum class PassKind { forward, stream, backward };
template <class L, PassKind kind>
concept has_variant = requires(L const& layer, Shape const& in) {
  layer.template variant<kind>(in);
};
namespace detail {
template <class L, class Sizes>
constexpr bool is_member_of(Sizes (L::*)(Shape const&) const) {
  return true;
}
}  // namespace detail
/// A layer that is derived from another one may compute with other sizes, so it needs sizes of its own.
template <class L, PassKind kind, auto variant>
concept has_sizes = requires {
  requires detail::is_member_of<L>(&L::template sizes<kind, variant>);
};
template <class L, PassKind kind>
using VariantOf = decltype(std::declval<L const&>().template variant<kind>(std::declval<Shape const&>()));

/// The second operand of a join: op combines the computed value with the value at the same place of `other`.
template <class Op, class T>
struct BinaryPostOp {
  Op op;
  T const* other = nullptr;
  Index pitch = 0, columns = 0;
};
struct NoJoin {};
template <class Chain, class T>
using DefaultJoin = std::conditional_t<is_erased_chain<Chain>, BinaryPostOp<BasicErasedJoin<T>, T>, NoJoin>;

/// Whether the compiler knows that a chain does nothing.
template <class Chain>
constexpr bool is_no_chain = [] {
  if constexpr (requires { typename std::bool_constant<(Chain::length > 0)>; }) {
    return Chain::length == 0;
  } else {
    return false;
  }
}();

/// What happens to a finished sum before it is stored: y = chain(z) with z = join(sum). Where backward reads z, z is
/// stored too, in `kept`.
template <class Chain, class T, class Join = DefaultJoin<Chain, T>>
struct PostOps {
  Chain chain;
  std::uint64_t step = 0;
  T* kept = nullptr;
  Index kept_pitch = 0;
  [[no_unique_address]] Join join = {};
  // Whether only one group reads the value. Only recorded calls need this, and their chains are type-erased.
  std::conditional_t<is_erased_chain<Chain>, bool, std::false_type> read_once = {};

  static constexpr bool nothing = std::is_same_v<Join, NoJoin> && is_no_chain<Chain>;
  constexpr bool empty() const {
    if constexpr (std::is_same_v<Join, NoJoin>) {
      return chain.length == 0 && !kept;
    } else {
      return chain.length == 0 && !kept && !join.other;
    }
  }
};

/// The same for signals, where the join's other operand may be in a ring.
template <class Chain, class T, class Join = DefaultJoin<Chain, T>>
struct SignalPostOps : PostOps<Chain, T, Join> {
  Index other_mask = 0;
};

template <class Chain>
using DefaultAdds = std::conditional_t<is_erased_chain<Chain>, bool, std::false_type>;

/// What happens to a finished input gradient before it is stored: if it `adds`, the gradient that is already in dx is
/// added to it; then it is multiplied by the gradient of the chain that produced the input. Only a layer that declares
/// `adds` is asked to add (core/capabilities.hpp), and a backend with adds_in_place. `Adds` is a bool where chains are
/// type-erased, otherwise a constant.
template <class Chain, class T, class Adds = DefaultAdds<Chain>>
struct Derivative {
  Chain chain;
  std::uint64_t step = 0;
  T const* input = nullptr;  // of the chain, where its gradient needs it
  Index input_pitch = 0;
  T const* output = nullptr;
  Index output_pitch = 0;
  Adds adds = {};  // not [[no_unique_address]], as in ForwardPass

  static constexpr bool nothing = is_no_chain<Chain>;
  constexpr bool empty() const { return chain.length == 0; }
  /// The same with another value of `adds`.
  template <bool value>
  constexpr auto adding(std::bool_constant<value> other) const {
    using Other = std::conditional_t<std::is_same_v<Adds, bool>, bool, std::bool_constant<value>>;
    return Derivative<Chain, T, Other>{chain, step, input, input_pitch, output, output_pitch, other};
  }
};

/// A pooling that is computed in one pass with a convolution, whose own values then never reach memory.
template <class T, class Last = bool>
struct Windows {
  PoolingGeometry geometry = {};         // of the max pooling; no planes: there is no pooling
  T* places = nullptr;                   // receives the tap of each maximum
  [[no_unique_address]] Last last = {};  // whether the pooling is the last operation, after the chain; otherwise the
                                         // chain follows it

  constexpr explicit operator bool() const { return geometry.planes > 0; }
  /// Conversion for functions that decide everything at run time.
  constexpr operator Windows<T>() const requires(!std::is_same_v<Last, bool>) { return {geometry, places, last}; }
};
struct NoWindows {
  static constexpr std::false_type last{};
  template <class T>
  constexpr operator Windows<T>() const {
    return {};
  }
};

/// A null pointer to a state, where the compiler knows that the pass carries none. It is used as a T*.
template <class T>
struct NoState {
  constexpr operator T*() const { return nullptr; }
};
template <class State>
constexpr bool is_no_state = std::is_null_pointer_v<State>;
template <class T>
constexpr bool is_no_state<NoState<T>> = true;

/// The arguments of a compute layer's forward function. x and y are Rows, p[i] is the start of parameter i. A layer
/// with several inputs gets the shapes and Rows of all of them: in[k], x[k]. State is T* or NoState<T>.
template <class In, class X, class P, class Y, class PostOps, class T, class State = T*, class Windows = NoWindows,
          class LayerVariant = NoVariant>
struct ForwardPass {
  using Variant = LayerVariant;
  In in;  // the shape of one sample
  X x;
  P p;
  Y y;
  PostOps post_ops;
  T* memory;           // memory_of(layer) values per sample, kept until backward
  State state;         // state_of(layer) values per sample, carried to the next call; null: every sample starts anew
  std::uint64_t key;   // of the layer's random numbers
  std::uint64_t step;  // the number of the training step; 0: inference
  // Not [[no_unique_address]], although it may be empty: with it, nvcc 13.0 makes kernels take nearly twice the bytes.
  Windows windows = {};
};
/// The same for a block of up to `most` steps of a stream: x (or each x[k] of a layer with several inputs) and y are
/// Signals, and `memory` has room for `most` samples.
template <class Pass>
struct BlockPass : Pass {
  Index most;
};

/// The arguments of a layer's backward functions: dx = derivative(...); sinks[i] receives the gradient of parameter i.
template <class In, class X, class P, class Y, class DY, class DX, class Chain, class Sinks, class T,
          class Windows = NoWindows, class LayerVariant = NoVariant, class Adds = DefaultAdds<Chain>>
struct BackwardPass {
  using Variant = LayerVariant;
  In in;
  X x;
  P p;
  Y y;
  DY dy;
  DX dx;
  Derivative<Chain, T, Adds> derivative;
  Sinks sinks;
  T* memory;
  std::uint64_t key, step;
  Windows windows = {};
};

/// A parameter's gradient is either stored in memory, ...
template <class T>
struct GradientSink {
  T* gradient;
  bool add = false;  // whether to add to what is there, or to overwrite it
  constexpr GradientSink at(Index offset) const { return {gradient + offset, add}; }
  /// Receives the gradient of element e.
  constexpr void take(Index e, T value) const { gradient[e] = add ? gradient[e] + value : value; }
};

/// ... or passed straight to the optimizer, which updates the parameter. The gradient then never reaches memory.
template <class Optimizer, class T>
struct UpdateSink {
  Optimizer optimizer;  // with the constants of this step
  float scale;          // the factor of the gradient
  T* weight;
  T* state[Optimizer::states];
  float decay = 0;
  Regularization regularization = Regularization::l2;
  float average = 0;    // above 0: a running statistic, which receives observations instead of gradients
  bool frozen = false;  // whether the parameter stays as it is
  float bound = std::numeric_limits<float>::infinity();  // of the magnitude of the gradient times scale
  // Whether this step and all later ones are w <- w - learning_rate g, so that states never matter.
  bool plain = false;

  constexpr UpdateSink at(Index offset) const {
    UpdateSink part = *this;
    part.weight += offset;
    for (T*& s : part.state) s += offset;
    return part;
  }
  /// Whether a gradient of 0 changes no weight, so that it need not be passed.
  constexpr bool skips_zeros() const { return frozen || (plain && decay == 0 && average == 0); }
  /// The same as at(offset), where the sink skips zeros. `zeros` is used as its state: as many zeros as the part has
  /// values. The parameter's own state is left alone, because that of a gradient which is skipped is, too.
  constexpr UpdateSink skipping_at(Index offset, T* zeros) const {
    UpdateSink part = at(offset);
    for (T*& s : part.state) s = zeros;
    return part;
  }
  /// Whether there is anything between the scaled gradient and the optimizer.
  constexpr bool adjusts() const { return decay != 0 || bound < std::numeric_limits<float>::infinity(); }
  /// One step of a number, or of a vector of numbers. `adjusted` is adjusts(). It is constant, because a test at run
  /// time would cost time.
  template <bool adjusted, class V>
  __attribute__((always_inline)) constexpr void step(V& value, V gradient, V (&states)[Optimizer::states]) const {
    gradient = gradient * scale;
    if constexpr (adjusted) {
      V const high = V{} + bound, low = -high;  // a NaN is neither above nor below, and remains
      gradient = gradient > high ? high : gradient < low ? low : gradient;
      V const sign = value > V{} ? V{} + 1 : value < V{} ? V{} - 1 : V{};
      V const derivative = regularization == Regularization::l2 ? value : sign;
      gradient = Math<V>::fma(V{} + decay, derivative, gradient);
    }
    optimizer.update(value, gradient, states);
  }
  /// Receives the gradient of element e, or an observation of it.
  constexpr void take(Index e, T value) const {
    if (frozen) return;
    if (average > 0) return observe(weight[e], value);
    T states[Optimizer::states];
    for (int s = 0; s < Optimizer::states; ++s) states[s] = state[s][e];
    if (adjusts()) {
      step<true>(weight[e], value, states);
    } else {
      step<false>(weight[e], value, states);
    }
    for (int s = 0; s < Optimizer::states; ++s) state[s][e] = states[s];
  }
  /// One step of a running statistic.
  template <class V>
  __attribute__((always_inline)) constexpr void observe(V& value, V observation) const {
    V const distance = Math<V>::fma(observation, V{} + scale, -value);
    value = Math<V>::fma(V{} + average, distance, value);
  }
};

}  // namespace coldpress
