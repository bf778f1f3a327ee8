// The training kernels of one instruction set level.
#include "level.hpp"

namespace coldpress::cpu::inline COLDPRESS_ISA {
namespace {

template <class Sink>
constexpr ApplyGradientKernels<Sink> apply_gradient_kernels() {
  return {[](float const* gradient, Index size, Sink const& sink, Context const& context) {
    with(context).apply_gradient(gradient, size, sink);
  }};
}
template <class Sink>
constexpr SinkKernels<Sink> sink_kernels() {
  return {
      apply_gradient_kernels<Sink>(),
      [](In x, In dy, Sink const& sink, Context const& context) { with(context).weight_gradient(x, dy, sink); },
      [](In dy, Sink const& sink, Context const& context) { with(context).sum_rows(dy, sink); },
      [](Recurrence<float> const& r, Sink const& sink, Context const& context) {
        with(context).recurrent_weight_gradient(r, sink);
      },
      [](VolumeGeometry const& g, In x, In dy, Sink const& weights, Sink const* biases, Windows<float> const& windows,
         Context const& context) { with(context).convolve_parameter_gradients(g, x, dy, weights, biases, windows); }};
}
template <class Optimizer>
constexpr OptimizerKernels<Optimizer> optimizer_kernels() {
  using Sink = UpdateSink<Optimizer, float>;
  if constexpr (Optimizer::heavy) {
    return {apply_gradient_kernels<Sink>()};
  } else {
    return {sink_kernels<Sink>()};
  }
}
template <class L>
constexpr JoinGradientKernels<L> join_gradient_kernels() {
  if constexpr (JoinLayer<L>) {
    return {[](L const& layer, bool second, In dy, In a, In b, Out dx, Derivative<ErasedChain, float> const& derivative,
               Context const& context) { with(context).join_gradient(layer, second, dy, a, b, dx, derivative); }};
  } else {
    return {};
  }
}
template <class L>
constexpr LoopTrainingKernels<L> loop_kernels() {
  LoopTrainingKernels<L> kernels{};
  if constexpr (LayerTraits<L>::loops) {
    using Pass = LoopBackward<L>;
    if constexpr (requires(LoopCpu const& backend, L const& layer, Pass const& pass) {
                    layer.backward(backend, pass);
                  }) {
      kernels.backward = [](L const& layer, Pass const& pass, Context const& context) {
        layer.backward(loops_with(context), pass);
      };
    }
    if constexpr (LayerTraits<L>::propagates) {
      kernels.backward_input = [](L const& layer, Pass const& pass, Context const& context) {
        layer.backward_input(loops_with(context), pass);
      };
    }
    if constexpr (has_parameters<L>) {
      kernels.backward_parameters = [](L const& layer, Pass const& pass, Context const& context) {
        layer.backward_parameters(loops_with(context), pass);
      };
    }
  }
  return kernels;
}
constexpr CommonTrainingKernels common_kernels() {
  return {
      [](In dy, float const* weight, Out dx, Derivative<ErasedChain, float> const& derivative, Context const& context) {
        with(context).product(dy, weight, dx, derivative);
      },
      [](VolumeGeometry const& g, In dy, float const* weight, Out dx, Derivative<ErasedChain, float> const& derivative,
         Windows<float> const& windows,
         Context const& context) { with(context).convolve_input_gradient(g, dy, weight, dx, derivative, windows); },
      [](PoolingGeometry const& g, In dy, float const* places, Out dx, Derivative<ErasedChain, float> const& derivative,
         Context const& context) { with(context).pool_gradient(g, dy, places, dx, derivative); },
      [](In dy, Out dx, Derivative<ErasedChain, float> const& derivative, Context const& context) {
        with(context).map_gradient(dy, dx, derivative);
      },
      [](In dy, Out dx, Derivative<ErasedChain, float> const& derivative, Context const& context) {
        with(context).add_gradient(dy, dx, derivative);
      },
      [](Normalization kind, In y, In dy, Out dx, Context const& context) {
        with(context).normalize_gradient(kind, y, dy, dx);
      },
      [](Out weights, float most) { Cpu{}.limit_columns(weights, most); },
      [](float const* values, Index size, Context const& context) { return with(context).squared_norm(values, size); },
      [](Recurrence<float> const& r, float const* weights, Sequence<float const> const& upper, Index truncation,
         Context const& context) { with(context).recurrent_gradient(r, weights, upper, truncation); },
      [](Recurrence<float> const& r, float const* weights, Out dx, Context const& context) {
        with(context).recurrent_input_gradient(r, weights, dx);
      },
      [](AttentionPass<float> const& attention, AttentionGradients<float> const& to, Context const& context) {
        with(context).attend_gradient(attention, to);
      }};
}
template <class... Layers, class... Optimizers>
constexpr FullTrainingTable make_table(TypeList<Layers...>, TypeList<Optimizers...>) {
  return {{common_kernels(), sink_kernels<GradientSink<float>>(), optimizer_kernels<Optimizers>()...,
           join_gradient_kernels<Layers>()...},
          loop_kernels<Layers>()...};
}

}  // namespace

TrainingTable const& training_table() {
  static constexpr FullTrainingTable kernels = make_table(BuiltinLayers{}, BuiltinOptimizers{});
  return kernels;
}

}  // namespace coldpress::cpu::inline COLDPRESS_ISA
