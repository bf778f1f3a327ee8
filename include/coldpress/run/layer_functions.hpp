// The functions of layers, losses and statistics for programs in tables: those of run/execute.hpp, for one type of
// pass.
#pragma once

// For linked kernels, those of the built-in ones are compiled with the kernels (kernels/linked_layers.hpp). Those of a
// user's own type are compiled with the program. Programs link what they call for: functions for inference, training,
// losses and streams are apart.

#include <coldpress/optim/optimizers.hpp>
#include <coldpress/run/table_program.hpp>
#include <coldpress/run/update.hpp>

namespace coldpress {

namespace detail {

/// What is done with the finished sums of a compute layer.
template <class Backend>
using TablePostOps = PostOps<BasicErasedChain<typename Backend::Scalar>, typename Backend::Scalar>;
template <class Backend>
using TableSignalPostOps = SignalPostOps<BasicErasedChain<typename Backend::Scalar>, typename Backend::Scalar>;

/// The functions of a compute layer for inference. `part` is null in a pass over a whole minibatch.
template <class Backend>
struct HeadFunctions {
  void (*forward)(TableRun<Backend> const& run, void const* layer, int g, Rows<typename Backend::Scalar> y,
                  TablePostOps<Backend> const& post_ops, PartStage const* part);
  Totals (*totals)(void const* layer, Shapes in);
};
/// Those for blocks of a stream's steps.
template <class Backend>
struct StreamFunctions {
  void (*forward)(TableBlockRun<Backend> const& run, void const* layer, int g, Signal<typename Backend::Scalar> y,
                  TableSignalPostOps<Backend> const& post_ops);
};

/// The function of a compute layer that passes gradients back, those of its parameters to sinks of this type.
template <class Backend, class Sinks>
struct GradientInto {
  void (*gradient)(TableRun<Backend> const& run, void const* layer, int g, Sinks const& sinks, Pass pass,
                   PartStage const* part);
};
/// The same for the backward pass of a network.
template <class Backend, class Sinks>
struct BackwardInto {
  void (*backward)(TableRun<Backend> const& run, Sinks const& sinks);
};
/// Into<Backend, sinks> for the sinks in memory, and for those that update, of each optimizer whose step the backend's
/// kernels end in.
template <template <class, class> class Into, class Backend, class Optimizer,
          bool fuses = fuses_update_of<Backend, Optimizer>>
struct IntoUpdate {};
template <template <class, class> class Into, class Backend, class Optimizer>
struct IntoUpdate<Into, Backend, Optimizer, true> : Into<Backend, UpdateSinks<Optimizer, typename Backend::Scalar>> {};
template <template <class, class> class Into, class Backend, class Optimizers = BuiltinOptimizers>
struct IntoAll;
template <template <class, class> class Into, class Backend, class... Optimizers>
struct IntoAll<Into, Backend, TypeList<Optimizers...>> : Into<Backend, GradientSinks<typename Backend::Scalar>>,
                                                         IntoUpdate<Into, Backend, Optimizers>... {};
/// f.template operator()<sinks>() for each of these types.
template <class Backend, class F>
constexpr void for_each_sinks(F f) {
  f.template operator()<GradientSinks<typename Backend::Scalar>>();
  for_each_type(BuiltinOptimizers{}, [&]<class Optimizer>() {
    if constexpr (fuses_update_of<Backend, Optimizer>)
      f.template operator()<UpdateSinks<Optimizer, typename Backend::Scalar>>();
  });
}
/// The functions of a compute layer or a join for training.
template <class Backend>
struct GradientFunctions : IntoAll<GradientInto, Backend> {
  void (*join)(TableRun<Backend> const& run, void const* layer, int g, int k);
};

/// The function of a loss, or of a statistic.
template <class Backend>
struct ObjectiveFunctions {
  typename Backend::Scalar (*loss)(TableRun<Backend> const& run, void const* loss, int g);
  void (*observe)(TableRun<Backend> const& run, void const* statistic, Shapes in, int g, double* sums);
};

// What follows makes these functions for a type.

template <class Backend, class L>
struct HeadFunctionsOf {
  static void forward(TableRun<Backend> const& run, void const* layer, int g, Rows<typename Backend::Scalar> y,
                      TablePostOps<Backend> const& post_ops, [[maybe_unused]] PartStage const* part) {
    L const& own = *static_cast<L const*>(layer);
    if constexpr (has_totals<L> && knows_loss<Backend>) {  // other backends compute no parts of minibatches
      if (part) return forward_head(run, own, g, y, post_ops, *part);
    }
    forward_head(run, own, g, y, post_ops, WholePass{});
  }
  static Totals totals(void const* layer, Shapes in) { return totals_of(*static_cast<L const*>(layer), in); }
  static constexpr HeadFunctions<Backend> all = [] {
    HeadFunctions<Backend> functions{};
    if constexpr (ComputeLayer<L>) functions = {forward, totals};
    return functions;
  }();
};
template <class Backend, class L>
struct StreamFunctionsOf {
  static void forward(TableBlockRun<Backend> const& run, void const* layer, int g, Signal<typename Backend::Scalar> y,
                      TableSignalPostOps<Backend> const& post_ops) {
    forward_head(run, *static_cast<L const*>(layer), g, y, post_ops, WholePass{});
  }
  static constexpr StreamFunctions<Backend> all = [] {
    StreamFunctions<Backend> functions{};
    if constexpr (ComputeLayer<L>) functions = {forward};
    return functions;
  }();
};
template <class Backend, class L>
struct GradientFunctionsOf {
  template <class Sinks>
  static void gradient(TableRun<Backend> const& run, void const* layer, int g, Sinks const& sinks, Pass pass,
                       [[maybe_unused]] PartStage const* part) {
    L const& own = *static_cast<L const*>(layer);
    if constexpr (has_totals<L> && knows_loss<Backend>) {
      if (part) return head_gradient(run, own, g, sinks, pass, *part);
    }
    head_gradient(run, own, g, sinks, pass, WholePass{});
  }
  static void join(TableRun<Backend> const& run, void const* layer, int g, int k) {
    join_gradient(run, *static_cast<L const*>(layer), g, k);
  }
  template <class Sinks>
  static constexpr void add(GradientInto<Backend, Sinks>& into) {
    into.gradient = gradient<Sinks>;
  }
  static constexpr GradientFunctions<Backend> all = [] {
    GradientFunctions<Backend> functions{};
    if constexpr (ComputeLayer<L>) {
      for_each_sinks<Backend>([&]<class Sinks>() { add<Sinks>(functions); });
    }
    if constexpr (JoinLayer<L>) functions.join = join;
    return functions;
  }();
};
template <class Backend, class L>
struct ObjectiveFunctionsOf {
  static typename Backend::Scalar loss(TableRun<Backend> const& run, void const* loss, int g) {
    return loss_gradient(run, *static_cast<L const*>(loss), g);
  }
  static void observe(TableRun<Backend> const& run, void const* statistic, Shapes in, int g, double* sums) {
    observe_group(run, *static_cast<L const*>(statistic), in, g, sums);
  }
  static constexpr ObjectiveFunctions<Backend> all = [] {
    ObjectiveFunctions<Backend> functions{};
    if constexpr (Loss<L>) functions.loss = loss;
    if constexpr (Statistic<L>) functions.observe = observe;
    return functions;
  }();
};

/// Where the functions of a type are: compiled where they are asked for. A backend may have them elsewhere.
template <class Backend>
struct LayerFunctions {
  template <class L>
  static constexpr HeadFunctions<Backend> const* head = &HeadFunctionsOf<Backend, L>::all;
  template <class L>
  static constexpr StreamFunctions<Backend> const* stream = &StreamFunctionsOf<Backend, L>::all;
  template <class L>
  static constexpr GradientFunctions<Backend> const* gradient = &GradientFunctionsOf<Backend, L>::all;
  template <class L>
  static constexpr ObjectiveFunctions<Backend> const* objective = &ObjectiveFunctionsOf<Backend, L>::all;
};

/// What a network asks of the functions of its layers besides inference.
struct LayerRoles {
  bool training = false, losses = false, streams = false;
};
template <class Backend>
struct TableLayer {
  using Functions = LayerFunctions<Backend>;
  void const* layer = nullptr;
  Normalization normalization = Normalization::none;
  // Null where there are none or nothing asks for them.
  HeadFunctions<Backend> const* head = nullptr;
  StreamFunctions<Backend> const* stream = nullptr;
  GradientFunctions<Backend> const* gradient = nullptr;
  ObjectiveFunctions<Backend> const* objective = nullptr;

  /// For a layer of type L, which is still to be set.
  template <LayerRoles roles, class L>
  static constexpr TableLayer of() {
    TableLayer all{};
    if constexpr (ComputeLayer<L>) {
      all.normalization = LayerTraits<L>::normalization;
      all.head = Functions::template head<L>;
      if constexpr (roles.streams) all.stream = Functions::template stream<L>;
    }
    if constexpr (roles.training && (ComputeLayer<L> || JoinLayer<L>)) all.gradient = Functions::template gradient<L>;
    if constexpr (roles.losses && (Loss<L> || Statistic<L>)) all.objective = Functions::template objective<L>;
    return all;
  }
};

// The functions of run/execute.hpp for such a layer.

constexpr PartStage const* part_of(WholePass const&) { return nullptr; }
constexpr PartStage const* part_of(PartStage const& stage) { return &stage; }
template <class Backend, class Stage>
void forward_head(TableRun<Backend> const& run, TableLayer<Backend> const& layer, int g,
                  Rows<typename Backend::Scalar> y, TablePostOps<Backend> const& post_ops, Stage const& stage) {
  layer.head->forward(run, layer.layer, g, y, post_ops, part_of(stage));
}
template <class Backend>
void forward_head(TableBlockRun<Backend> const& run, TableLayer<Backend> const& layer, int g,
                  Signal<typename Backend::Scalar> y, TableSignalPostOps<Backend> const& post_ops, WholePass const&) {
  layer.stream->forward(run, layer.layer, g, y, post_ops);
}
template <class Backend, class Sinks, class Stage>
void head_gradient(TableRun<Backend> const& run, TableLayer<Backend> const& layer, int g, Sinks const& sinks, Pass pass,
                   Stage const& stage) {
  GradientInto<Backend, Sinks> const& into = *layer.gradient;
  into.gradient(run, layer.layer, g, sinks, pass, part_of(stage));
}
template <class Backend>
void join_gradient(TableRun<Backend> const& run, TableLayer<Backend> const& layer, int g, int k) {
  layer.gradient->join(run, layer.layer, g, k);
}
template <class Backend>
typename Backend::Scalar loss_gradient(TableRun<Backend> const& run, TableLayer<Backend> const& loss, int g) {
  return loss.objective->loss(run, loss.layer, g);
}
template <class Backend>
void observe_group(TableRun<Backend> const& run, TableLayer<Backend> const& statistic, Shapes in, int g, double* sums) {
  statistic.objective->observe(run, statistic.layer, in, g, sums);
}
template <class Backend>
Totals totals_of(TableLayer<Backend> const& layer, Shapes in) {
  return layer.head->totals(layer.layer, in);
}

}  // namespace detail
}  // namespace coldpress
