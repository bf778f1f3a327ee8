// One level's table: the same kernels that static networks inline, with shapes as arguments. Compiled once for each
// level, with nothing but code of that level in it.
#include "table.hpp"

#include <coldpress/backend/cpu.hpp>
#include <coldpress/backend/erased.hpp>

namespace coldpress::cpu::inline COLDPRESS_ISA {
namespace {

Cpu with(Context const& context) { return {{}, {context}}; }

template <class L>
constexpr OpKernels<L> op_kernels() {
  if constexpr (PointwiseLayer<L>) {
    return {erased_op<decltype(L{}.op(0))>()};
  } else {
    return {};
  }
}
template <class Op>
void join_block(void const* op, float* x, float const* other, Index pitch, Index columns, ErasedOp::Block block) {
  Op const& f = *static_cast<Op const*>(op);
  for (Index i = 0; i < block.rows; ++i) {
    for (Index j = 0; j < block.columns; j += lanes) {
      float* const p = x + i * block.pitch + j;
      store(p, f.value(load(p), load_row(other + i * pitch + j, columns - j)));
    }
  }
}
template <class L>
constexpr JoinKernels<L> join_kernels() {
  if constexpr (JoinLayer<L>) {
    return {{nullptr, join_block<decltype(L{}.join())>},
            [](L const& layer, bool second, In dy, In a, In b, Out dx, Slope<ErasedChain, float> const& slope,
               Context const& context) { with(context).join_gradient(layer, second, dy, a, b, dx, slope); }};
  } else {
    return {};
  }
}
template <class Sink>
constexpr HandOverKernels<Sink> hand_over_kernels() {
  return {[](float const* gradient, Index size, Sink const& sink, Context const& context) {
    with(context).hand_over(gradient, size, sink);
  }};
}
template <class Sink>
constexpr SinkKernels<Sink> sink_kernels() {
  return {hand_over_kernels<Sink>(),
          [](In x, In dy, Sink const& sink, Context const& context) { with(context).weight_gradient(x, dy, sink); },
          [](In dy, Sink const& sink, Context const& context) { with(context).sum_rows(dy, sink); },
          [](Recurrence<float> const& r, Sink const& sink, Context const& context) {
            with(context).recurrent_weight_gradient(r, sink);
          },
          [](ConvolutionGeometry const& g, In x, In dy, Sink const& weights, Sink const* biases,
             Windows<float> const& windows, Context const& context) {
            with(context).convolve_parameter_gradients(g, x, dy, weights, biases, windows);
          }};
}
template <class Optimizer>
constexpr OptimizerKernels<Optimizer> optimizer_kernels() {
  using Sink = UpdateSink<Optimizer, float>;
  if constexpr (Optimizer::heavy) {
    return {hand_over_kernels<Sink>()};
  } else {
    return {sink_kernels<Sink>()};
  }
}
template <class L>
constexpr LossKernels<L> loss_kernels() {
  LossKernels<L> kernels{};
  if constexpr (ElementLoss<L>) {
    kernels.loss = [](L const& loss, Normalization kind, In x, Out y, In target, Out dx, Context const& context) {
      return with(context).loss(loss, kind, x, y, target, dx);
    };
    if constexpr (has_target_gradient<L>) {
      kernels.target_gradient = [](L const& loss, In y, In target, Out dt, Context const& context) {
        with(context).loss_target_gradient(loss, y, target, dt);
      };
    }
  }
  return kernels;
}
template <class Step>
constexpr StepKernels<Step> step_kernels() {
  return {[](Step const& step) { return kernel_of(step); }};
}
constexpr CommonKernels common_kernels() {
  return {
      [](In x, float const* weight, float const* bias, Out y, Then<ErasedChain, float> const& then,
         Context const& context) { with(context).affine(x, weight, bias, y, then); },
      [](In dy, float const* weight, Out dx, Slope<ErasedChain, float> const& slope, Context const& context) {
        with(context).product(dy, weight, dx, slope);
      },
      [](In x, float const* weight, float const* bias, Out y, Then<ErasedChain, float> const& then,
         Context const& context) { with(context).affine(x, HalfLayout::matrix(weight), bias, y, then); },
      [](In dy, float const* weight, Out dx, Slope<ErasedChain, float> const& slope, Context const& context) {
        with(context).product(dy, HalfLayout::matrix(weight), dx, slope);
      },
      [](ConvolutionGeometry const& g, In x, float const* weight, float const* bias, Out y,
         Then<ErasedChain, float> const& then, float* state, Windows<float> const& windows,
         Context const& context) { with(context).convolve(g, x, weight, bias, y, then, state, windows); },
      [](ConvolutionGeometry const& g, In dy, float const* weight, Out dx, Slope<ErasedChain, float> const& slope,
         Windows<float> const& windows,
         Context const& context) { with(context).convolve_input_gradient(g, dy, weight, dx, slope, windows); },
      [](PoolingGeometry const& g, In x, Out y, Then<ErasedChain, float> const& then, float* places,
         Context const& context) { with(context).pool(g, x, y, then, places); },
      [](PoolingGeometry const& g, In dy, float const* places, Out dx, Slope<ErasedChain, float> const& slope,
         Context const& context) { with(context).pool_gradient(g, dy, places, dx, slope); },
      [](In x, Out y, Then<ErasedChain, float> const& then, Context const& context) { with(context).map(x, y, then); },
      [](In dy, Out dx, Slope<ErasedChain, float> const& slope, Context const& context) {
        with(context).map_gradient(dy, dx, slope);
      },
      [](In dy, Out dx, Slope<ErasedChain, float> const& slope, Context const& context) {
        with(context).add_gradient(dy, dx, slope);
      },
      [](Normalization kind, In x, Out y, Context const& context) { with(context).normalize(kind, x, y); },
      [](Normalization kind, In y, In dy, Out dx, Context const& context) {
        with(context).normalize_gradient(kind, y, dy, dx);
      },
      [](Out weights, float most) { Cpu{}.limit_columns(weights, most); },
      [](float const* values, Index size, Context const& context) { return with(context).squared_norm(values, size); },
      [](Recurrence<float> const& r, float const* weights, Context const& context) {
        with(context).recurrent(r, weights);
      },
      [](Recurrence<float> const& r, float const* weights, Sequence<float const> const& upper, Index truncation,
         Context const& context) { with(context).recurrent_gradient(r, weights, upper, truncation); },
      [](Recurrence<float> const& r, float const* weights, Out dx, Context const& context) {
        with(context).recurrent_input_gradient(r, weights, dx);
      },
      [](Sequence<float const> const& from, Sequence<float> const& to, bool add) { Cpu{}.copy(from, to, add); }};
}
template <class... Layers, class... Losses, class... Optimizers>
constexpr Table make_table(TypeList<Layers...>, TypeList<Losses...>, TypeList<Optimizers...>) {
  return {common_kernels(),
          step_kernels<AffineStep<float>>(),
          step_kernels<AffineStep<Bfloat16>>(),
          step_kernels<ConvolutionStep<>>(),
          step_kernels<RecurrentStep>(),
          sink_kernels<GradientSink<float>>(),
          optimizer_kernels<Optimizers>()...,
          loss_kernels<Losses>()...,
          op_kernels<Layers>()...,
          join_kernels<Layers>()...};
}

}  // namespace

Table const& table() {
  static constexpr Table kernels = make_table(BuiltinLayers{}, BuiltinLosses{}, BuiltinOptimizers{});
  return kernels;
}

}  // namespace coldpress::cpu::inline COLDPRESS_ISA
