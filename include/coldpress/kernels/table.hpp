// The primitives of the CPU backend as tables of functions that take shapes as run-time arguments.
#pragma once

// Each instruction set level has three tables, because programs that neither train nor stream link only the first. The
// last argument of a function is the context: the threads and the scratch memory that it may use.

#include <coldpress/backend/layout.hpp>
#include <coldpress/backend/single_sample.hpp>
#include <coldpress/core/executor.hpp>
#include <coldpress/core/pass.hpp>
#include <coldpress/kernels/loops.hpp>
#include <coldpress/layers.hpp>
#include <coldpress/optim/optimizers.hpp>

namespace coldpress::cpu {

/// The kernels that compute the gradient of a parameter and pass it to a sink.
template <class Sink>
struct SinkKernels : ApplyGradientKernels<Sink> {
  void (*weight_gradient)(In x, In dy, Sink const& sink, Context const& context);
  void (*sum_rows)(In dy, Sink const& sink, Context const& context);
  void (*recurrent_weight_gradient)(Recurrence<float> const& r, Sink const& sink, Context const& context);
  void (*convolve_parameter_gradients)(VolumeGeometry const& g, In x, In dy, Sink const& weights, Sink const* biases,
                                       Windows<float> const& windows, Context const& context);
};
/// An optimizer's step over a gradient in memory and, unless its code is long, as the epilogue of a gradient's tile.
template <class Optimizer, bool heavy = Optimizer::heavy>
struct OptimizerKernels : SinkKernels<UpdateSink<Optimizer, float>> {};
template <class Optimizer>
struct OptimizerKernels<Optimizer, true> : ApplyGradientKernels<UpdateSink<Optimizer, float>> {};
/// Both are null for losses that read whole samples; `target_gradient` is also null if targets get no gradient.
template <class LossType>
struct LossKernels {
  float (*loss)(LossType const& loss, Normalization kind, In x, Out y, In target, Out dx, Context const& context);
  void (*target_gradient)(LossType const& loss, In y, In target, Out dt, Context const& context);
};
/// The type-erased operation of a pointwise layer; the caller sets `op`.
template <class PointwiseLayer>
struct OpKernels {
  ErasedOp op;
};

/// The type-erased operation of a join layer; the caller sets its operation, too.
template <class JoinLayer>
struct JoinKernels {
  ErasedJoin join;
};
template <class JoinLayer>
struct JoinGradientKernels {
  void (*gradient)(JoinLayer const& layer, bool second, In dy, In a, In b, Out dx,
                   Derivative<ErasedChain, float> const& derivative, Context const& context);
};

/// Returns the kernel that computes a step of this type (backend/single_sample.hpp).
template <class Step>
struct StepKernels {
  Kernel (*kernel_of)(Step const& step);
};

struct CommonKernels {
  void (*affine)(In x, float const* weight, float const* bias, Out y, PostOps<ErasedChain, float> const& post_ops,
                 Context const& context);
  void (*affine_halves)(In x, float const* weight, float const* bias, Out y,
                        PostOps<ErasedChain, float> const& post_ops,
                        Context const& context);  // the same with a Bfloat16 weight matrix
  // dx without a derivative: the forward pass of a layer that multiplies by the transpose of a matrix.
  void (*plain_product)(In dy, float const* weight, Out dx, Context const& context);
  void (*plain_product_halves)(In dy, float const* weight, Out dx, Context const& context);
  void (*convolve)(VolumeGeometry const& g, In x, float const* weight, float const* bias, Out y,
                   PostOps<ErasedChain, float> const& post_ops, float* state, Windows<float> const& windows,
                   Context const& context);
  void (*convolve_transposed)(VolumeGeometry const& g, In x, float const* weight, float const* bias, Out y,
                              PostOps<ErasedChain, float> const& post_ops, Context const& context);
  void (*pool)(PoolingGeometry const& g, In x, Out y, PostOps<ErasedChain, float> const& post_ops, float* places,
               Context const& context);
  void (*map)(In x, Out y, PostOps<ErasedChain, float> const& post_ops, Context const& context);
  void (*normalize)(Normalization kind, In x, Out y, Context const& context);
  void (*recurrent)(Recurrence<float> const& r, float const* weights, Context const& context);
  void (*attend)(AttentionPass<float> const& attention, Context const& context);
  void (*copy)(Sequence<float const> const& from, Sequence<float> const& to, bool add);
};
struct CommonTrainingKernels {
  void (*product)(In dy, float const* weight, Out dx, Derivative<ErasedChain, float> const& derivative,
                  Context const& context);
  void (*convolve_input_gradient)(VolumeGeometry const& g, In dy, float const* weight, Out dx,
                                  Derivative<ErasedChain, float> const& derivative, Windows<float> const& windows,
                                  Context const& context);
  void (*pool_gradient)(PoolingGeometry const& g, In dy, float const* places, Out dx,
                        Derivative<ErasedChain, float> const& derivative, Context const& context);
  void (*map_gradient)(In dy, Out dx, Derivative<ErasedChain, float> const& derivative, Context const& context);
  void (*add_gradient)(In dy, Out dx, Derivative<ErasedChain, float> const& derivative, Context const& context);
  void (*normalize_gradient)(Normalization kind, In y, In dy, Out dx, Context const& context);
  void (*limit_columns)(Out weights, float most);
  double (*squared_norm)(float const* values, Index size, Context const& context);
  void (*recurrent_gradient)(Recurrence<float> const& r, float const* weights, Sequence<float const> const& upper,
                             Index truncation, Context const& context);
  void (*recurrent_input_gradient)(Recurrence<float> const& r, float const* weights, Out dx, Context const& context);
  void (*attend_gradient)(AttentionPass<float> const& attention, AttentionGradients<float> const& to,
                          Context const& context);
};

template <class Layers, class Losses>
struct BasicTable;
template <class... Layers, class... Losses>
struct BasicTable<TypeList<Layers...>, TypeList<Losses...>> : CommonKernels,
                                                              StepKernels<AffineStep<float>>,
                                                              StepKernels<AffineStep<Bfloat16>>,
                                                              StepKernels<FusedStep>,
                                                              StepKernels<RecurrentStep>,
                                                              LossKernels<Losses>...,
                                                              OpKernels<Layers>...,
                                                              JoinKernels<Layers>... {};
template <class Layers, class Optimizers>
struct BasicTrainingTable;
template <class... Layers, class... Optimizers>
struct BasicTrainingTable<TypeList<Layers...>, TypeList<Optimizers...>> : CommonTrainingKernels,
                                                                          SinkKernels<GradientSink<float>>,
                                                                          OptimizerKernels<Optimizers>...,
                                                                          JoinGradientKernels<Layers>... {};
/// A table with the kernels of layers that compute in loops. It is apart because the types of all their passes take the
/// compiler long, and programs see them only where they call such a kernel.
template <class Table, template <class> class Kernels, class Layers>
struct TableWithLoops;
template <class Table, template <class> class Kernels, class... Layers>
struct TableWithLoops<Table, Kernels, TypeList<Layers...>> : Table, Kernels<Layers>... {};

/// Blocks of a stream's steps.
struct StreamTable : StepKernels<FusedBlock>, StepKernels<SignalMap<>>, StepKernels<SignalRecurrence<>> {};
/// Forward passes and losses.
using Table = BasicTable<BuiltinLayers::Plain, BuiltinLosses::Plain>;
/// Backward passes and updates.
using TrainingTable = BasicTrainingTable<BuiltinLayers::Plain, BuiltinOptimizers>;

template <class L>
using Loops = LoopKernels<L>;
template <class L>
using TrainingLoops = LoopTrainingKernels<L>;
using FullTable = TableWithLoops<Table, Loops, BuiltinLayers::Plain>;
using FullTrainingTable = TableWithLoops<TrainingTable, TrainingLoops, BuiltinLayers::Plain>;
/// The kernels of a layer that computes in loops. Every table is part of a full one, `Full`, which is a parameter so
/// that the compiler looks at it only where this is called.
template <class L, class Full = FullTable>
LoopKernels<L> const& loops_of(Table const& table) {
  return static_cast<Full const&>(table);
}
template <class L, class Full = FullTrainingTable>
LoopTrainingKernels<L> const& loops_of(TrainingTable const& table) {
  return static_cast<Full const&>(table);
}

}  // namespace coldpress::cpu
