// The concept of a backend: every function that layers, losses and the executor call, with its meaning.
#pragma once

// Each backend is checked where it is defined. The check looks at names and signatures and instantiates no primitive.

#include <coldpress/core/attention.hpp>
#include <coldpress/core/pass.hpp>

namespace coldpress {

namespace detail {
/// Stands for a layer, a loss, a statistic or a pass, which a backend's functions take as a template argument.
struct ExamplePart {};
}  // namespace detail

namespace concepts {

/// Where a backend keeps parameters and rows, and how much scratch its primitives need.
template <class B>
concept BackendLayout = requires(B const& b, Parameter const& parameter, typename B::Scalar* storage, Index n,
                                 Extent extent, RecurrentWeights const& weights, VolumeGeometry const& g,
                                 PoolingGeometry const& pooling, AttentionGeometry const& attention) {
  { B::pitch(n) } -> std::same_as<Index>;                                // the distance between rows of n values
  { b.storage_size(parameter) } -> std::same_as<Index>;                  // the number of values of a stored parameter
  { b.get(parameter, storage, n) } -> std::same_as<typename B::Scalar>;  // returns its canonical element n
  b.put(parameter, storage, n, typename B::Scalar{});                    // sets its canonical element n
  { b.is_canonical(parameter) } -> std::same_as<bool>;                   // whether it is stored in canonical order
  // The scratch, in values, that product and weight_gradient (of `in` and `out` features) and the others need.
  { B::product_scratch(n, n) } -> std::same_as<Index>;
  { B::weight_gradient_scratch(n, n) } -> std::same_as<Index>;
  { B::recurrent_scratch(weights, extent) } -> std::same_as<Index>;
  { B::convolution_scratch(g, extent) } -> std::same_as<Index>;
  { B::pooling_scratch(pooling) } -> std::same_as<Index>;
  { B::attention_scratch(attention, extent) } -> std::same_as<Index>;
};

/// The functions on values that every backend has. x and y are a layer's input and output; dx and dy are their
/// gradients and have the same shapes. `post_ops` is applied to values before they are stored, and a gradient is
/// multiplied by `derivative` before it is stored.
template <class B, class T = typename B::Scalar>
concept MapsValues = requires(B const& b, Rows<T const> x, Rows<T> y, Rows<T const> dy, Rows<T> dx,
                              PostOps<ErasedChain, T> const& post_ops, Derivative<ErasedChain, T> const& derivative,
                              Normalization kind, detail::ExamplePart const& part) {
  b.map(x, y, post_ops);               // y = post_ops(x); y may be x
  b.map_gradient(dy, dx, derivative);  // dx = derivative(dy); dx may be dy unless the derivative adds
  b.add_gradient(dy, dx, derivative);  // dx = derivative(dx + dy)
  // dx = derivative(dy times the join's partial derivative by its first operand, or by its `second`). The two
  // operands, here x and x, are read only if the join needs them.
  b.join_gradient(part, true, dy, x, x, dx, derivative);
  b.normalize(kind, x, y);                // y = softmax or log softmax of each row; y may be x
  b.normalize_gradient(kind, x, dy, dx);  // dx from y (here x) and dy; dx may be dy
  // y = normalised x, dx = gradient of the summed loss with respect to x; returns the mean loss. The fifth argument is
  // the targets; y may be x.
  { b.loss(part, kind, x, y, x, dx) } -> std::same_as<T>;
  b.loss_target_gradient(part, x, x, dx);  // dx = gradient of the summed loss with respect to the targets
};

/// The primitives from which layers are written.
template <class B, class T = typename B::Scalar>
concept HasPrimitives = requires(B const& b, Rows<T const> x, Rows<T> y, Rows<T const> dy, Rows<T> dx, T const* weight,
                                 T const* bias, T* memory, T* state, PostOps<ErasedChain, T> const& post_ops,
                                 Derivative<ErasedChain, T> const& derivative, GradientSink<T> const& sink) {
  b.affine(x, weight, bias, y, post_ops);    // y = post_ops(x Wᵀ + b); bias may be null
  b.product(dy, weight, dx, derivative);     // dx = derivative(dy W)
  b.weight_gradient(x, dy, sink);            // sink(dyᵀ x), in the layout of W
  b.sum_rows(dy, sink);                      // sink(Σ rows of dy)
  { b.scratch } -> std::convertible_to<T*>;  // as much as the layer requested
}
&&requires(B const& b, Rows<T const> x, Rows<T> y, Rows<T const> dy, Rows<T> dx, T const* weight, T const* bias,
           T* memory, T* state, PostOps<ErasedChain, T> const& post_ops, Derivative<ErasedChain, T> const& derivative,
           GradientSink<T> const& sink, VolumeGeometry const& g, PoolingGeometry const& pooling) {
  // y = post_ops(x * W + b), where * is the cross-correlation. Sequences continue from `state`; bias may be null.
  b.convolve(g, x, weight, bias, y, post_ops, state);
  b.convolve_input_gradient(g, dy, weight, dx, derivative);  // dx = derivative(the gradient with respect to x)
  // y = post_ops(what g's input gradient would be if x were dy, + b): the transposed convolution; bias may be null.
  b.convolve_transposed(g, x, weight, bias, y, post_ops);
  b.convolve_parameter_gradients(g, x, dy, sink, &sink);  // of W, and of b unless its sink is null
  b.pool(pooling, x, y, post_ops, memory);                // y = post_ops(the pooled x); memory: the places of maxima
  b.pool_gradient(pooling, dy, memory, dx, derivative);   // dx = derivative(the gradient with respect to x)
}
&&requires(B const& b, Recurrence<T> const& r, T const* weights, Sequence<T const> const& from, Sequence<T> const& to,
           Rows<T> dx, GradientSink<T> const& sink, Index truncation) {
  b.recurrent(r, weights);                             // computes all steps of one part of a recurrent layer
  b.recurrent_gradient(r, weights, from, truncation);  // r.gradients from the gradients of h
  b.recurrent_input_gradient(r, weights, dx);          // of the part's input: one row per sample and step
  b.recurrent_weight_gradient(r, sink);                // of the part's weights
  b.copy(from, to);                                    // to = from
  b.copy(from, to, true);                              // to += from
}
&&requires(B const& b, AttentionPass<T> const& attention, AttentionGradients<T> const& gradients) {
  b.attend(attention);                      // y, and what the queries keep
  b.attend_gradient(attention, gradients);  // those that have data
}
&&requires(B const& b, T const* values, T* weight, Index size, GradientSink<T> const& sink, Parameter const& parameter,
           T norm) {
  b.apply_gradient(values, size, sink);                      // sink(a gradient in memory, or an observation)
  b.constrain(parameter, weight, norm);                      // scales each unit's weights down to this L2 norm
  { b.squared_norm(values, size) } -> std::same_as<double>;  // Σ values²
};

/// A backend whose memory the host cannot read computes whole layers: each function does what the function of that name
/// of the layer, loss or statistic would do. It also takes the optimizer's steps: update(update_step, gradients, slots,
/// count).
template <class B, class T = typename B::Scalar>
concept ComputesLayers = requires(B const& b, detail::ExamplePart const& layer, detail::ExamplePart const& pass,
                                  Rows<T const> x, Rows<T> dx, Shape const& in, Shapes shapes, double* sums, T mean,
                                  T* weights, T const* gradients, Index size) {
  b.forward(layer, pass);
  b.backward(layer, pass);
  b.backward_input(layer, pass);
  b.backward_parameters(layer, pass);
  { b.sample_losses(layer, in, x, x, dx, dx) } -> std::same_as<T>;  // the mean loss of whole samples
  b.gather(sums, mean, size);                                       // adds the mean of `size` samples to sums
  b.observe(layer, shapes, &x, sums);                               // shows a minibatch to a statistic
  b.subtract(weights, gradients, size);                             // weights -= gradients
  &B::template update<detail::ExamplePart>;
};

/// A backend. Its number type is B::Scalar. It may declare the following as `static constexpr bool`, by default false:
///   adds_in_place   where a derivative adds, its primitives add a gradient to what is in dx (core/pass.hpp)
///   compiles_variants   network types tell it the variants of their layers as constants (core/pass.hpp)
///   keeps_blocks   it keeps images in blocks of 16 samples where that is faster (core/rows.hpp)
///   linked         its kernels take shapes and operations as numbers, so that groups and edges are numbers, too
///   many_threads   it has one thread per value, and sums with whole blocks of threads, as a GPU does
///   takes_layers   it computes whole layers, and is a LayerBackend
/// and the following, by default true:
///   trains                    it can train
///   fuses_update<Optimizer>   its kernels can end in the optimizer's step
/// A backend of networks from configs, or a linked one, also has erased<L>() and erased_join<L>(): the operation of a
/// layer L as an ErasedOp or ErasedJoin (core/pointwise.hpp), whose `op` the caller sets. These are used where they
/// exist:
///   executor, attach()    threads, and scratch for each of them (Context in core/executor.hpp)
///   tape                  records the calls of primitives, so that they can be repeated (kernels/tape.hpp)
///   halves                whether weights are stored in bfloat16
///   prepare_training(), link_streams()   called before the first backward pass, or the first block of a stream
/// If layers compute on a backend with many_threads, it also has the loops of Grid: once, each, each_range, each_part
/// and each_sum, and multiply (backend/grid.hpp).
template <class B>
concept Backend = BackendLayout<B> && MapsValues<B> && HasPrimitives<B>;
/// A backend that takes_layers.
template <class B>
concept LayerBackend = BackendLayout<B> && MapsValues<B> && ComputesLayers<B> && takes_layers<B>;

}  // namespace concepts
}  // namespace coldpress
