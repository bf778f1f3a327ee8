// The passes of networks on linked kernels, and the functions of their layers, which are compiled with the kernels.
#pragma once

// kernels/cpu/linked_*.cpp compile those of the built-in types, in lists by the number of the type.

#include <coldpress/kernels/linked_cpu.hpp>
#include <coldpress/run/layer_functions.hpp>

namespace coldpress {

using LinkedProgram = TableProgram<LinkedCpu>;
using LinkedRun = TableRun<LinkedCpu>;
using LinkedBlockRun = TableBlockRun<LinkedCpu>;
static_assert(concepts::Program<LinkedProgram, LinkedCpu>);

namespace detail {

template <class Functions, class List>
using FunctionsOfAll = std::array<Functions, static_cast<std::size_t>(size_of(List{}))>;
extern FunctionsOfAll<HeadFunctions<LinkedCpu>, BuiltinLayers> const head_functions;
extern FunctionsOfAll<StreamFunctions<LinkedCpu>, BuiltinLayers> const stream_functions;
extern FunctionsOfAll<GradientFunctions<LinkedCpu>, BuiltinLayers> const gradient_functions;
extern FunctionsOfAll<ObjectiveFunctions<LinkedCpu>, BuiltinLosses> const loss_functions;
extern FunctionsOfAll<ObjectiveFunctions<LinkedCpu>, BuiltinStatistics> const statistic_functions;

/// The functions of the types of a list.
template <template <class, class> class Of, class... Types>
constexpr auto functions_of_all(TypeList<Types...>) {
  return std::array{Of<LinkedCpu, Types>::all...};
}
/// The functions of a type: in the list of the built-in ones, or those that are compiled here.
template <class L, class List, class Own, class Functions, std::size_t n>
constexpr Functions const* functions_in(std::array<Functions, n> const& list) {
  constexpr int number = index_of<L>(List{});
  if constexpr (number >= 0) {
    return &list[number];
  } else {
    return &Own::all;
  }
}
template <>
struct LayerFunctions<LinkedCpu> {
  template <class L>
  static constexpr auto head = functions_in<L, BuiltinLayers, HeadFunctionsOf<LinkedCpu, L>>(head_functions);
  template <class L>
  static constexpr auto stream = functions_in<L, BuiltinLayers, StreamFunctionsOf<LinkedCpu, L>>(stream_functions);
  template <class L>
  static constexpr auto gradient =
      functions_in<L, BuiltinLayers, GradientFunctionsOf<LinkedCpu, L>>(gradient_functions);
  template <class L>
  static constexpr ObjectiveFunctions<LinkedCpu> const* objective = [] {
    using Own = ObjectiveFunctionsOf<LinkedCpu, L>;
    if constexpr (Loss<L>) {
      return functions_in<L, BuiltinLosses, Own>(loss_functions);
    } else {
      return functions_in<L, BuiltinStatistics, Own>(statistic_functions);
    }
  }();
};

// The backward passes of all networks.
struct BackwardPasses : IntoAll<BackwardInto, LinkedCpu> {};
extern BackwardPasses const backward_passes;

}  // namespace detail

// The passes of all networks.
void forward(LinkedRun const& run);
void forward(LinkedBlockRun const& run);
template <class Sinks>
requires std::is_base_of_v<detail::BackwardInto<LinkedCpu, Sinks>, detail::BackwardPasses>
void backward(LinkedRun const& run, Sinks const& sinks) {
  detail::BackwardInto<LinkedCpu, Sinks> const& into = detail::backward_passes;
  into.backward(run, sinks);
}

}  // namespace coldpress
