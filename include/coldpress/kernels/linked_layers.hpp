// The functions of layers, losses and statistics for network types with linked kernels, and their passes.
#pragma once

// Those of the built-in ones are compiled with the kernels (kernels/cpu/linked_*.cpp), in lists by the number of the
// type. Programs link what they call for: passes of inference, training, losses and streams are apart. Those of a
// user's own type are compiled with the program. All of them are the functions of run/execute.hpp for one type of Run.

#include <coldpress/kernels/linked_program.hpp>
#include <coldpress/run/update.hpp>

namespace coldpress {

namespace detail {

/// The functions of a compute layer for inference. `part` is null in a pass over a whole minibatch.
struct HeadFunctions {
  void (*forward)(LinkedRun const& run, void const* layer, int g, Rows<float> y,
                  PostOps<ErasedChain, float> const& post_ops, PartStage const* part);
  Totals (*totals)(void const* layer, Shapes in);
};
using LinkedSignalOps = SignalPostOps<ErasedChain, float>;
/// Those for blocks of a stream's steps.
struct StreamFunctions {
  void (*forward)(LinkedBlockRun const& run, void const* layer, int g, Signal<float> y,
                  LinkedSignalOps const& post_ops);
};

/// The function of a compute layer that passes gradients back, those of its parameters to sinks of this type.
template <class Sinks>
struct GradientInto {
  void (*gradient)(LinkedRun const& run, void const* layer, int g, Sinks const& sinks, Pass pass,
                   PartStage const* part);
};
/// The same for the backward pass of a network.
template <class Sinks>
struct BackwardInto {
  void (*backward)(LinkedRun const& run, Sinks const& sinks);
};
/// Into<sinks> for the sinks in memory, and for those that update, of each optimizer whose step kernels end in.
template <template <class> class Into, class Optimizer, bool fuses = LinkedCpu::fuses_update<Optimizer>>
struct IntoUpdate {};
template <template <class> class Into, class Optimizer>
struct IntoUpdate<Into, Optimizer, true> : Into<UpdateSinks<Optimizer, float>> {};
template <template <class> class Into, class Optimizers = BuiltinOptimizers>
struct IntoAll;
template <template <class> class Into, class... Optimizers>
struct IntoAll<Into, TypeList<Optimizers...>> : Into<GradientSinks<float>>, IntoUpdate<Into, Optimizers>... {};
/// f.template operator()<sinks>() for each of these types.
template <class F>
constexpr void for_each_sinks(F f) {
  f.template operator()<GradientSinks<float>>();
  for_each_type(BuiltinOptimizers{}, [&]<class Optimizer>() {
    if constexpr (LinkedCpu::fuses_update<Optimizer>) f.template operator()<UpdateSinks<Optimizer, float>>();
  });
}
/// The functions of a compute layer or a join for training.
struct GradientFunctions : IntoAll<GradientInto> {
  void (*join)(LinkedRun const& run, void const* layer, int g, int k);
};

/// The function of a loss, or of a statistic.
struct ObjectiveFunctions {
  float (*loss)(LinkedRun const& run, void const* loss, int g);
  void (*observe)(LinkedRun const& run, void const* statistic, Shapes in, int g, double* sums);
};

// What follows makes these functions for a type.

template <class L>
struct HeadFunctionsOf {
  static void forward(LinkedRun const& run, void const* layer, int g, Rows<float> y,
                      PostOps<ErasedChain, float> const& post_ops, PartStage const* part) {
    L const& own = *static_cast<L const*>(layer);
    if constexpr (has_totals<L>) {
      if (part) return forward_head(run, own, g, y, post_ops, *part);
    }
    forward_head(run, own, g, y, post_ops, WholePass{});
  }
  static Totals totals(void const* layer, Shapes in) { return totals_of(*static_cast<L const*>(layer), in); }
  static constexpr HeadFunctions all = [] {
    if constexpr (ComputeLayer<L>) return HeadFunctions{forward, totals};
    return HeadFunctions{};
  }();
};
template <class L>
struct StreamFunctionsOf {
  static void forward(LinkedBlockRun const& run, void const* layer, int g, Signal<float> y,
                      LinkedSignalOps const& post_ops) {
    forward_head(run, *static_cast<L const*>(layer), g, y, post_ops, WholePass{});
  }
  static constexpr StreamFunctions all = [] {
    if constexpr (ComputeLayer<L>) return StreamFunctions{forward};
    return StreamFunctions{};
  }();
};
template <class L>
struct GradientFunctionsOf {
  template <class Sinks>
  static void gradient(LinkedRun const& run, void const* layer, int g, Sinks const& sinks, Pass pass,
                       PartStage const* part) {
    L const& own = *static_cast<L const*>(layer);
    if constexpr (has_totals<L>) {
      if (part) return head_gradient(run, own, g, sinks, pass, *part);
    }
    head_gradient(run, own, g, sinks, pass, WholePass{});
  }
  static void join(LinkedRun const& run, void const* layer, int g, int k) {
    join_gradient(run, *static_cast<L const*>(layer), g, k);
  }
  template <class Sinks>
  static constexpr void add(GradientInto<Sinks>& into) {
    into.gradient = gradient<Sinks>;
  }
  static constexpr GradientFunctions all = [] {
    GradientFunctions functions{};
    if constexpr (ComputeLayer<L>) {
      for_each_sinks([&]<class Sinks>() { add<Sinks>(functions); });
    }
    if constexpr (JoinLayer<L>) functions.join = join;
    return functions;
  }();
};
template <class L>
struct ObjectiveFunctionsOf {
  static float loss(LinkedRun const& run, void const* loss, int g) {
    return loss_gradient(run, *static_cast<L const*>(loss), g);
  }
  static void observe(LinkedRun const& run, void const* statistic, Shapes in, int g, double* sums) {
    observe_group(run, *static_cast<L const*>(statistic), in, g, sums);
  }
  static constexpr ObjectiveFunctions all = [] {
    ObjectiveFunctions functions{};
    if constexpr (Loss<L>) functions.loss = loss;
    if constexpr (Statistic<L>) functions.observe = observe;
    return functions;
  }();
};

/// The functions of the types of a list.
template <template <class> class Of, class... Types>
constexpr auto functions_of_all(TypeList<Types...>) {
  return std::array{Of<Types>::all...};
}

// Those of all built-in types.
template <class Functions, class List>
using FunctionsOfAll = std::array<Functions, static_cast<std::size_t>(size_of(List{}))>;
extern FunctionsOfAll<HeadFunctions, BuiltinLayers> const head_functions;
extern FunctionsOfAll<StreamFunctions, BuiltinLayers> const stream_functions;
extern FunctionsOfAll<GradientFunctions, BuiltinLayers> const gradient_functions;
extern FunctionsOfAll<ObjectiveFunctions, BuiltinLosses> const loss_functions;
extern FunctionsOfAll<ObjectiveFunctions, BuiltinStatistics> const statistic_functions;
// The backward passes of all networks.
struct BackwardPasses : IntoAll<BackwardInto> {};
extern BackwardPasses const backward_passes;

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

/// What a network asks of the functions of its layers.
struct LinkedRoles {
  bool training, losses, streams;
};
struct LinkedLayer {
  void const* layer = nullptr;
  Normalization normalization = Normalization::none;
  HeadFunctions const* head = nullptr;  // null, like those that follow, where there are none or nothing asks for them
  StreamFunctions const* stream = nullptr;
  GradientFunctions const* gradient = nullptr;
  ObjectiveFunctions const* objective = nullptr;

  template <LinkedRoles roles, class L>
  static constexpr LinkedLayer of(L const& layer) {
    LinkedLayer all{&layer};
    if constexpr (ComputeLayer<L>) {
      all.normalization = LayerTraits<L>::normalization;
      all.head = functions_in<L, BuiltinLayers, HeadFunctionsOf<L>>(head_functions);
      if constexpr (roles.streams) all.stream = functions_in<L, BuiltinLayers, StreamFunctionsOf<L>>(stream_functions);
    }
    if constexpr (roles.training && (ComputeLayer<L> || JoinLayer<L>))
      all.gradient = functions_in<L, BuiltinLayers, GradientFunctionsOf<L>>(gradient_functions);
    if constexpr (roles.losses && Loss<L>)
      all.objective = functions_in<L, BuiltinLosses, ObjectiveFunctionsOf<L>>(loss_functions);
    if constexpr (roles.losses && Statistic<L>)
      all.objective = functions_in<L, BuiltinStatistics, ObjectiveFunctionsOf<L>>(statistic_functions);
    return all;
  }
};

// The functions of run/execute.hpp for such a layer.

constexpr PartStage const* part_of(WholePass const&) { return nullptr; }
constexpr PartStage const* part_of(PartStage const& stage) { return &stage; }
template <class Stage>
void forward_head(LinkedRun const& run, LinkedLayer const& layer, int g, Rows<float> y,
                  PostOps<ErasedChain, float> const& post_ops, Stage const& stage) {
  layer.head->forward(run, layer.layer, g, y, post_ops, part_of(stage));
}
inline void forward_head(LinkedBlockRun const& run, LinkedLayer const& layer, int g, Signal<float> y,
                         LinkedSignalOps const& post_ops, WholePass) {
  layer.stream->forward(run, layer.layer, g, y, post_ops);
}
template <class Sinks, class Stage>
void head_gradient(LinkedRun const& run, LinkedLayer const& layer, int g, Sinks const& sinks, Pass pass,
                   Stage const& stage) {
  GradientInto<Sinks> const& into = *layer.gradient;
  into.gradient(run, layer.layer, g, sinks, pass, part_of(stage));
}
inline void join_gradient(LinkedRun const& run, LinkedLayer const& layer, int g, int k) {
  layer.gradient->join(run, layer.layer, g, k);
}
inline float loss_gradient(LinkedRun const& run, LinkedLayer const& loss, int g) {
  return loss.objective->loss(run, loss.layer, g);
}
inline void observe_group(LinkedRun const& run, LinkedLayer const& statistic, Shapes in, int g, double* sums) {
  statistic.objective->observe(run, statistic.layer, in, g, sums);
}
inline Totals totals_of(LinkedLayer const& layer, Shapes in) { return layer.head->totals(layer.layer, in); }

}  // namespace detail

inline Normalization LinkedProgram::normalization(int g) const {
  int const head = group(g).head;
  return head < 0 ? Normalization::none : tables_->layers[head].normalization;
}
template <class Some, class None>
void LinkedProgram::head(int g, Some some, None none) const {
  int const head = group(g).head;
  head < 0 ? none() : some(tables_->layers[head]);
}
template <class Some, class None>
void LinkedProgram::join(int g, Some some, None none) const {
  int const join = group(g).join;
  join < 0 ? none() : some(tables_->layers[join]);
}
template <class F>
void LinkedProgram::loss(int g, F f) const {
  f(tables_->layers[group(g).loss]);
}
template <class F>
void LinkedProgram::statistic(int g, F f) const {
  int const statistic = group(g).statistic;
  if (statistic >= 0) f(tables_->layers[statistic], inputs_of(statistic));
}

// The passes of all networks, compiled with the kernels.
void forward(LinkedRun const& run);
void forward(LinkedBlockRun const& run);
template <class Sinks>
requires std::is_base_of_v<detail::BackwardInto<Sinks>, detail::BackwardPasses>
void backward(LinkedRun const& run, Sinks const& sinks) {
  detail::BackwardInto<Sinks> const& into = detail::backward_passes;
  into.backward(run, sinks);
}

}  // namespace coldpress
