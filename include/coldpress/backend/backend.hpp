// What layers and backends say to each other. A backend is a type with the primitives that Cpu (cpu.hpp) and Reference
// (reference.hpp) list; matrices are Rows, one row a sample, and parameters are in the backend's own layout.
#pragma once

#include <coldpress/core/geometry.hpp>
#include <coldpress/core/layer.hpp>

namespace coldpress {

/// Whether a backend can keep images in blocks (core/rows.hpp).
template <class Backend>
constexpr bool keeps_blocks = requires {
  requires Backend::keeps_blocks;
};

/// Whether a backend computes layers, losses and statistics whole, where their own functions are not to be called: what
/// is in a device's memory.
template <class Backend>
constexpr bool takes_layers = requires {
  requires std::remove_cvref_t<Backend>::takes_layers;
};

/// Whether a backend's kernels take their shapes and operations as numbers.
template <class Backend>
constexpr bool is_linked = requires {
  requires std::remove_cvref_t<Backend>::linked;
};

/// The second operand of a join: op joins what is computed with the value at the same place of `other`.
template <class Op, class T>
struct With {
  Op op;
  T const* other = nullptr;
  Index pitch = 0, columns = 0;
};
struct NoJoin {};
template <class Chain, class T>
using DefaultJoin = std::conditional_t<std::is_same_v<Chain, ErasedChain>, With<ErasedJoin, T>, NoJoin>;

/// Whether the compiler knows that a chain does nothing.
template <class Chain>
constexpr bool is_no_chain = [] {
  if constexpr (requires { typename std::bool_constant<(Chain::length > 0)>; }) {
    return Chain::length == 0;
  } else {
    return false;
  }
}();

/// What happens to a finished sum on its way to memory: y = chain(z) with z = join(sum). Where backward reads z, it is
/// kept too.
template <class Chain, class T, class Join = DefaultJoin<Chain, T>>
struct Then {
  Chain chain;
  std::uint64_t step = 0;
  T* kept = nullptr;
  Index kept_pitch = 0;
  [[no_unique_address]] Join join = {};

  static constexpr bool nothing = std::is_same_v<Join, NoJoin> && is_no_chain<Chain>;
  constexpr bool empty() const {
    if constexpr (std::is_same_v<Join, NoJoin>) {
      return chain.length == 0 && !kept;
    } else {
      return chain.length == 0 && !kept && !join.other;
    }
  }
};

/// What happens to a finished input gradient on its way to memory: it is multiplied by the slope of the chain that made
/// the input.
template <class Chain, class T>
struct Slope {
  Chain chain;
  std::uint64_t step = 0;
  T const* input = nullptr;  // of the chain, where it needs one
  Index input_pitch = 0;
  T const* output = nullptr;
  Index output_pitch = 0;

  static constexpr bool nothing = is_no_chain<Chain>;
  constexpr bool empty() const { return chain.length == 0; }
};

/// What a pooling that is one pass with a convolution makes of the convolution's values: these never reach memory.
template <class T, class Last = bool>
struct Windows {
  PoolingGeometry geometry = {};         // of maxima; without planes: there is none
  T* places = nullptr;                   // takes the tap that each is from
  [[no_unique_address]] Last last = {};  // of what the chain has made of the values; else the chain follows

  constexpr explicit operator bool() const { return geometry.planes > 0; }
  /// The same for a function that leaves all to run time.
  constexpr operator Windows<T>() const requires(!std::is_same_v<Last, bool>) { return {geometry, places, last}; }
};
struct NoWindows {
  static constexpr std::false_type last{};
  template <class T>
  constexpr operator Windows<T>() const {
    return {};
  }
};

/// What a compute layer's forward is given. x and y are Rows, p[i] the start of parameter i. A layer of several inputs
/// has the shapes and Rows of all: in[k], x[k]. State is std::nullptr_t where the compiler knows that there is none.
template <class In, class X, class P, class Y, class Then, class T, class State = T*, class Windows = NoWindows>
struct ForwardPass {
  In in;  // of one sample
  X x;
  P p;
  Y y;
  Then then;
  T* memory;           // memory_of(layer) values a sample, kept until backward
  State state;         // state_of(layer) values a sample, carried to the next call; null: every sample starts anew
  std::uint64_t key;   // of the layer's random numbers
  std::uint64_t step;  // 0: inference
  // Not [[no_unique_address]], though it may be empty: nvcc 13.0 has kernels take nearly twice the bytes then.
  Windows windows = {};
};

/// What its backward functions are given: dx = slope(...); sinks[i] takes the gradient of parameter i.
template <class In, class X, class P, class Y, class DY, class DX, class Chain, class Sinks, class T,
          class Windows = NoWindows>
struct BackwardPass {
  In in;
  X x;
  P p;
  Y y;
  DY dy;
  DX dx;
  Slope<Chain, T> slope;
  Sinks sinks;
  T* memory;
  std::uint64_t key, step;
  Windows windows = {};
};

/// Where a parameter's gradient goes: to memory, ...
template <class T>
struct GradientSink {
  T* gradient;
  bool add = false;  // to what is there, or over it
  constexpr GradientSink at(Index offset) const { return {gradient + offset, add}; }
  /// The gradient of element e.
  constexpr void take(Index e, T value) const { gradient[e] = add ? gradient[e] + value : value; }
};

/// ... or straight into the parameter, through the optimizer: then the gradient never reaches memory.
template <class Optimizer, class T>
struct UpdateSink {
  Optimizer optimizer;  // with the constants of this step
  float scale;          // of the gradient
  T* weight;
  T* state[Optimizer::states];
  float decay = 0;
  Regularization regularization = Regularization::l2;
  float average = 0;    // above 0: of a statistic, which takes observations in place of gradients
  bool frozen = false;  // then nothing changes

  constexpr UpdateSink at(Index offset) const {
    UpdateSink part = *this;
    part.weight += offset;
    for (T*& s : part.state) s += offset;
    return part;
  }
  /// One step of a number, or of a vector of them. `penalized`: whether there is decay; constant, for it costs time.
  template <bool penalized, class V>
  __attribute__((always_inline)) constexpr void step(V& value, V gradient, V (&states)[Optimizer::states]) const {
    gradient = gradient * scale;
    if constexpr (penalized) {
      V const sign = value > V{} ? V{} + 1 : value < V{} ? V{} - 1 : V{};
      V const slope = regularization == Regularization::l2 ? value : sign;
      gradient = Math<V>::fma(V{} + decay, slope, gradient);
    }
    optimizer.update(value, gradient, states);
  }
  /// The gradient of element e, or what is observed of it.
  constexpr void take(Index e, T value) const {
    if (frozen) return;
    if (average > 0) return observe(weight[e], value);
    T states[Optimizer::states];
    for (int s = 0; s < Optimizer::states; ++s) states[s] = state[s][e];
    if (decay != 0) {
      step<true>(weight[e], value, states);
    } else {
      step<false>(weight[e], value, states);
    }
    for (int s = 0; s < Optimizer::states; ++s) state[s][e] = states[s];
  }
  /// One step of a statistic.
  template <class V>
  __attribute__((always_inline)) constexpr void observe(V& value, V observation) const {
    V const distance = Math<V>::fma(observation, V{} + scale, -value);
    value = Math<V>::fma(V{} + average, distance, value);
  }
};

}  // namespace coldpress
