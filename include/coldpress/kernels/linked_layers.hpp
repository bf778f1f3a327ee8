// The functions of layers that call ready-made kernels, which are compiled together with these.
#pragma once

// In network types with ready-made kernels, the passes of a layer have the same types whatever the network is, so one
// copy serves all programs (kernels/cpu/linked_layers.cpp). These are the layers with much code in primitives; layers
// that compute in loops have their own kernels (loops.hpp).

#include <coldpress/kernels/linked_cpu.hpp>
#include <coldpress/run/computed_by.hpp>
#include <coldpress/run/run.hpp>

namespace coldpress {
namespace detail {

template <class L>
using LinkedRows = std::conditional_t<OneInput<L>, Rows<float>, std::array<Rows<float>, max_inputs>>;
template <class L>
using LinkedWindows = std::conditional_t<LayerTraits<L>::fuses_maxima, Windows<float>, NoWindows>;
template <class L>
using LinkedForward = ForwardPass<Asked<L>, LinkedRows<L>, ParameterView<float const>, Rows<float>,
                                  PostOps<ErasedChain, float>, float, float*, LinkedWindows<L>>;
template <class L, class Sinks>
using LinkedBackward =
    BackwardPass<Asked<L>, LinkedRows<L>, ParameterView<float const>, Rows<float>, Rows<float>, LinkedRows<L>,
                 std::conditional_t<OneInput<L>, ErasedChain, Chain<>>, Sinks, float, LinkedWindows<L>>;

#if !defined COLDPRESS_COMPILED
#define COLDPRESS_COMPILED extern
#endif
#define COLDPRESS_FORWARD(L) COLDPRESS_COMPILED template struct ForwardOfAny<LinkedCpu, L, LinkedForward<L>>
#define COLDPRESS_BACKWARD(L, ...) \
  COLDPRESS_COMPILED template struct BackwardOfAny<LinkedCpu, L, LinkedBackward<L, __VA_ARGS__>>
// With the sinks of gradients in memory, and of optimizers that LinkedCpu::fuses_update.
#define COLDPRESS_LEARNING(L)                     \
  COLDPRESS_FORWARD(L);                           \
  COLDPRESS_BACKWARD(L, GradientSinks<float>);    \
  COLDPRESS_BACKWARD(L, UpdateSinks<Sgd, float>); \
  COLDPRESS_BACKWARD(L, UpdateSinks<Nesterov, float>)
COLDPRESS_LEARNING(Linear);
COLDPRESS_LEARNING(Convolution);
COLDPRESS_LEARNING(Rnn);
COLDPRESS_FORWARD(ScaledDotProductAttention);
COLDPRESS_BACKWARD(ScaledDotProductAttention, NoSinks);
#undef COLDPRESS_LEARNING
#undef COLDPRESS_BACKWARD
#undef COLDPRESS_FORWARD

}  // namespace detail
}  // namespace coldpress
