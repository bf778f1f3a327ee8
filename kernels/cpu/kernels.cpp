// The inference kernels of one instruction set level: those that static networks inline, with shapes as arguments.
#include "level.hpp"

namespace coldpress::cpu::inline COLDPRESS_ISA {
namespace {

template <class L>
constexpr OpKernels<L> op_kernels() {
  if constexpr (PointwiseLayer<L>) {
    return {erased_op_of<Vector, L>()};
  } else {
    return {};
  }
}
template <class L>
constexpr JoinKernels<L> join_kernels() {
  if constexpr (JoinLayer<L>) {
    return {erased_join_of<Vector, L>()};
  } else {
    return {};
  }
}
template <class L>
constexpr LoopKernels<L> loop_kernels() {
  if constexpr (LayerTraits<L>::loops) {
    return {[](L const& layer, LoopForward<L> const& pass, Context const& context) {
      layer.forward(loops_with(context), pass);
    }};
  } else {
    return {};
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
constexpr CommonKernels common_kernels() {
  return {[](In x, float const* weight, float const* bias, Out y, PostOps<ErasedChain, float> const& post_ops,
             Context const& context) { with(context).affine(x, weight, bias, y, post_ops); },
          [](In x, float const* weight, float const* bias, Out y, PostOps<ErasedChain, float> const& post_ops,
             Context const& context) { with(context).affine(x, HalfLayout::matrix(weight), bias, y, post_ops); },
          [](In dy, float const* weight, Out dx, Context const& context) {
            with(context).product(dy, weight, dx, Derivative<Chain<>, float>{});
          },
          [](In dy, float const* weight, Out dx, Context const& context) {
            with(context).product(dy, HalfLayout::matrix(weight), dx, Derivative<Chain<>, float>{});
          },
          [](VolumeGeometry const& g, In x, float const* weight, float const* bias, Out y,
             PostOps<ErasedChain, float> const& post_ops, float* state, Windows<float> const& windows,
             Context const& context) { with(context).convolve(g, x, weight, bias, y, post_ops, state, windows); },
          [](VolumeGeometry const& g, In x, float const* weight, float const* bias, Out y,
             PostOps<ErasedChain, float> const& post_ops,
             Context const& context) { with(context).convolve_transposed(g, x, weight, bias, y, post_ops); },
          [](PoolingGeometry const& g, In x, Out y, PostOps<ErasedChain, float> const& post_ops, float* places,
             Context const& context) { with(context).pool(g, x, y, post_ops, places); },
          [](In x, Out y, PostOps<ErasedChain, float> const& post_ops, Context const& context) {
            with(context).map(x, y, post_ops);
          },
          [](Normalization kind, In x, Out y, Context const& context) { with(context).normalize(kind, x, y); },
          [](Recurrence<float> const& r, float const* weights, Context const& context) {
            with(context).recurrent(r, weights);
          },
          [](AttentionPass<float> const& attention, Context const& context) { with(context).attend(attention); },
          [](Sequence<float const> const& from, Sequence<float> const& to, bool add) { Cpu{}.copy(from, to, add); }};
}
template <class... Layers, class... Losses>
constexpr FullTable make_table(TypeList<Layers...>, TypeList<Losses...>) {
  return {{common_kernels(), step_kernels<AffineStep<float>>(), step_kernels<AffineStep<Bfloat16>>(),
           step_kernels<FusedStep>(), step_kernels<RecurrentStep>(), loss_kernels<Losses>()..., op_kernels<Layers>()...,
           join_kernels<Layers>()...},
          loop_kernels<Layers>()...};
}

}  // namespace

Table const& table() {
  static constexpr FullTable kernels = make_table(BuiltinLayers{}, BuiltinLosses{});
  return kernels;
}

}  // namespace coldpress::cpu::inline COLDPRESS_ISA
