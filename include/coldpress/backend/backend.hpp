// What layers and backends say to each other. A backend is a type with the primitives that Cpu (cpu.hpp) and Reference
// (reference.hpp) list; matrices are Rows, one row a sample, and parameters are in the backend's own layout.
#pragma once

#include <coldpress/core/layer.hpp>

namespace coldpress {

/// What happens to a finished sum on its way to memory: y = chain(z). Where backward reads z, it is kept too.
template <class Chain, class T>
struct Then {
  Chain chain;
  std::uint64_t step = 0;
  T* kept = nullptr;
  Index kept_pitch = 0;
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
};

/// Where a parameter's gradient goes: to memory, ...
template <class T>
struct GradientSink {
  T* gradient;
};

/// ... or straight into the parameter, through the optimizer: then the gradient never reaches memory.
template <class Optimizer, class T>
struct UpdateSink {
  Optimizer optimizer;
  float scale;
  T* weight;
  T* state[Optimizer::states];
};

}  // namespace coldpress
