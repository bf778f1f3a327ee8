// Kernels, for each instruction set, of layers that are written in plain loops. Shapes are arguments, not constants.
#pragma once

#include <coldpress/backend/layout.hpp>
#include <coldpress/core/layer_traits.hpp>
#include <coldpress/core/pass.hpp>
#include <coldpress/core/totals.hpp>
#include <coldpress/graph/node.hpp>

#include <array>

namespace coldpress::cpu {

/// Passes a gradient to a sink whose type is not known.
struct ErasedSink {
  void const *sink = nullptr, *backend = nullptr;
  void (*apply)(ErasedSink const& self, float const* gradient, Index size) = nullptr;
};

template <class L>
constexpr std::size_t most_parameters() {
  if constexpr (has_parameters<L>) {
    return std::tuple_size_v<decltype(std::declval<L const&>().parameters(
        std::declval<coldpress::detail::Asked<L>>()))>;
  } else {
    return 0;
  }
}
template <class L>
using LoopValues = std::conditional_t<OneInput<L>, In, std::array<Out, max_inputs>>;
template <class L>
using LoopTargets = std::conditional_t<OneInput<L>, Out, std::array<Out, max_inputs>>;
template <class L>
using LoopParameters = std::array<float const*, most_parameters<L>()>;

/// The types of the passes. Pointwise operations that follow such a layer, and their derivatives, are computed
/// separately.
template <class L>
using WholeLoopForward = ForwardPass<coldpress::detail::Asked<L>, LoopValues<L>, LoopParameters<L>, Out,
                                     PostOps<Chain<>, float, NoJoin>, float>;
template <class L>
using WholeLoopBackward = BackwardPass<coldpress::detail::Asked<L>, LoopValues<L>, LoopParameters<L>, In, In,
                                       LoopTargets<L>, Chain<>, std::array<ErasedSink, most_parameters<L>()>, float>;
template <class L>
using LoopForward = std::conditional_t<has_totals<L>, PartPass<WholeLoopForward<L>>, WholeLoopForward<L>>;
template <class L>
using LoopBackward = std::conditional_t<has_totals<L>, PartPass<WholeLoopBackward<L>>, WholeLoopBackward<L>>;

template <class L, bool loops = LayerTraits<L>::loops>
struct LoopKernels {};
template <class L>
struct LoopKernels<L, true> {
  void (*forward)(L const& layer, LoopForward<L> const& pass, Context const& context);
};
template <class L, bool loops = LayerTraits<L>::loops>
struct LoopTrainingKernels {};
/// Each is null unless the layer has such a function.
template <class L>
struct LoopTrainingKernels<L, true> {
  using Kernel = void (*)(L const& layer, LoopBackward<L> const& pass, Context const& context);
  Kernel backward, backward_input, backward_parameters;
};

/// The arguments of a pass over a layer of type L for these kernels.
template <class L, class P>
LoopParameters<L> loop_parameters(P const& from) {
  LoopParameters<L> all{};
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = from[static_cast<int>(i)];
  return all;
}
template <class L, class Sinks>
auto loop_sinks(Sinks const& from) {
  return [&]<std::size_t... i>(std::index_sequence<i...>) { return std::array{from[static_cast<int>(i)]...}; }
  (std::make_index_sequence<most_parameters<L>()>{});
}
template <class L, class Pass>
LoopForward<L> loop_pass(Pass const& pass) {
  return as_part<L>(
      pass, WholeLoopForward<L>{
                pass.in, pass.x, loop_parameters<L>(pass.p), pass.y, {}, pass.memory, pass.state, pass.key, pass.step});
}
template <class L, class Pass>
LoopBackward<L> loop_gradient_pass(Pass const& pass) {
  return as_part<L>(pass, WholeLoopBackward<L>{pass.in,
                                               pass.x,
                                               loop_parameters<L>(pass.p),
                                               pass.y,
                                               pass.dy,
                                               pass.dx,
                                               {},
                                               {},
                                               pass.memory,
                                               pass.key,
                                               pass.step});
}

}  // namespace coldpress::cpu
