// What a backend is: every function that layers, losses and the executor call of one, with its meaning. Each backend is
// checked where it is defined. Only names and signatures are: no primitive is instantiated by the check.
#pragma once

#include <coldpress/core/pass.hpp>

namespace coldpress {

namespace detail {
/// Stands for a layer, a loss, a statistic or a pass, whose type a backend takes as it comes.
struct AnyPart {};
}  // namespace detail

namespace concepts {

/// Where a backend keeps parameters and rows, and how much scratch its primitives need.
template <class B>
concept BackendLayout = requires(B const& b, Parameter const& parameter, typename B::Scalar* storage, Index n,
                                 Extent extent, RecurrentWeights const& weights, ConvolutionGeometry const& g,
                                 PoolingGeometry const& pooling) {
  { B::pitch(n) } -> std::same_as<Index>;                                // distance of neighbouring rows of n values
  { b.storage_size(parameter) } -> std::same_as<Index>;                  // values that a parameter takes
  { b.get(parameter, storage, n) } -> std::same_as<typename B::Scalar>;  // its canonical element n,
  b.put(parameter, storage, n, typename B::Scalar{});                    // which becomes a value
  { b.is_canonical(parameter) } -> std::same_as<bool>;                   // kept as the user sees it
  // Values of scratch that product, weight_gradient (of `in` and `out` features), and the others need.
  { B::product_scratch(n, n) } -> std::same_as<Index>;
  { B::weight_gradient_scratch(n, n) } -> std::same_as<Index>;
  { B::recurrent_scratch(weights, extent) } -> std::same_as<Index>;
  { B::convolution_scratch(g, extent) } -> std::same_as<Index>;
  { B::pooling_scratch(pooling) } -> std::same_as<Index>;
};

/// What every backend does with values. x, y: what a layer reads and makes; dx, dy: their gradients, of one shape with
/// them. `post_ops` is what follows a sum on its way to memory, `derivative` what a gradient is multiplied by.
template <class B, class T = typename B::Scalar>
concept MapsValues = requires(B const& b, Rows<T const> x, Rows<T> y, Rows<T const> dy, Rows<T> dx,
                              PostOps<ErasedChain, T> const& post_ops, Derivative<ErasedChain, T> const& derivative,
                              Normalization kind, detail::AnyPart const& part) {
  b.map(x, y, post_ops);               // y = post_ops(x); y may be x
  b.map_gradient(dy, dx, derivative);  // dx = derivative(dy); dx may be dy
  b.add_gradient(dy, dx, derivative);  // dx = derivative(dx + dy)
  // dx = derivative(dy times the join's partial derivative by its first operand, or by its `second`); x and x stand for
  // the two operands, which are read only where the join needs them.
  b.join_gradient(part, true, dy, x, x, dx, derivative);
  b.normalize(kind, x, y);                // y = softmax or log softmax of each row; y may be x
  b.normalize_gradient(kind, x, dy, dx);  // dx from y, which stands third, and dy; dx may be dy
  // y = normalised x, dx = gradient of the summed loss with respect to x, targets fifth; the mean loss. y may be x.
  { b.loss(part, kind, x, y, x, dx) } -> std::same_as<T>;
  b.loss_target_gradient(part, x, x, dx);  // dx = gradient of the summed loss with respect to the targets
};

/// The primitives that layers are written in.
template <class B, class T = typename B::Scalar>
concept HasPrimitives = requires(B const& b, Rows<T const> x, Rows<T> y, Rows<T const> dy, Rows<T> dx, T const* weight,
                                 T const* bias, T* memory, T* state, PostOps<ErasedChain, T> const& post_ops,
                                 Derivative<ErasedChain, T> const& derivative, GradientSink<T> const& sink) {
  b.affine(x, weight, bias, y, post_ops);    // y = post_ops(x Wᵀ + b); bias may be null
  b.product(dy, weight, dx, derivative);     // dx = derivative(dy W)
  b.weight_gradient(x, dy, sink);            // sink(dyᵀ x), in the layout of W
  b.sum_rows(dy, sink);                      // sink(Σ rows of dy)
  { b.scratch } -> std::convertible_to<T*>;  // as much as the layer asked for
}
&&requires(B const& b, Rows<T const> x, Rows<T> y, Rows<T const> dy, Rows<T> dx, T const* weight, T const* bias,
           T* memory, T* state, PostOps<ErasedChain, T> const& post_ops, Derivative<ErasedChain, T> const& derivative,
           GradientSink<T> const& sink, ConvolutionGeometry const& g, PoolingGeometry const& pooling) {
  // y = post_ops(x * W + b), * the cross-correlation; sequences go on where `state` says. bias may be null.
  b.convolve(g, x, weight, bias, y, post_ops, state);
  b.convolve_input_gradient(g, dy, weight, dx, derivative);  // dx = derivative(what dy is to x)
  b.convolve_parameter_gradients(g, x, dy, sink, &sink);  // of W, and of b unless that is null
  b.pool(pooling, x, y, post_ops, memory);                // y = post_ops(pooled x); memory: which value each is
  b.pool_gradient(pooling, dy, memory, dx, derivative);   // dx = derivative(what dy is to x)
}
&&requires(B const& b, Recurrence<T> const& r, T const* weights, Sequence<T const> const& from, Sequence<T> const& to,
           Rows<T> dx, GradientSink<T> const& sink, Index truncation) {
  b.recurrent(r, weights);                             // all steps of one part of a recurrent layer
  b.recurrent_gradient(r, weights, from, truncation);  // r.gradients from those of h, which come from above
  b.recurrent_input_gradient(r, weights, dx);          // of what goes in: a row for each sample of each step
  b.recurrent_weight_gradient(r, sink);                // of the part's weights
  b.copy(from, to);                                    // to = from,
  b.copy(from, to, true);                              // or to += from
}
&&requires(B const& b, T const* values, T* weight, Index size, GradientSink<T> const& sink, Parameter const& parameter,
           T norm) {
  b.apply_gradient(values, size, sink);                      // sink(a gradient that is whole, or an observation)
  b.constrain(parameter, weight, norm);                      // scales each unit's weights down to that L2 norm
  { b.squared_norm(values, size) } -> std::same_as<double>;  // Σ values²
};

/// A backend whose memory the host does not reach computes layers whole: each function does what the layer's, loss's or
/// statistic's own does with a pass. The executor also has it take steps: update(turn, gradients, slots, count).
template <class B, class T = typename B::Scalar>
concept ComputesLayers = requires(B const& b, detail::AnyPart const& layer, detail::AnyPart const& pass,
                                  Rows<T const> x, Rows<T> dx, Shape const& in, Shapes shapes, double* sums, T mean,
                                  T* weights, T const* gradients, Index size) {
  b.forward(layer, pass);
  b.backward(layer, pass);
  b.backward_input(layer, pass);
  b.backward_parameters(layer, pass);
  { b.sample_losses(layer, in, x, x, dx, dx) } -> std::same_as<T>;  // the mean loss of samples, each taken whole
  b.gather(sums, mean, size);                                       // adds the mean of `size` samples to sums
  b.observe(layer, shapes, &x, sums);                               // shows a minibatch to a statistic
  b.subtract(weights, gradients, size);                             // weights -= gradients
  &B::template update<detail::AnyPart>;
};

/// A backend. It has T = B::Scalar, and may declare the following, each `static constexpr bool`, by default false:
///   keeps_blocks   keeps images in blocks of 16 samples where that is quicker (core/rows.hpp)
///   linked         its kernels take shapes and operations as numbers, so that groups and edges are numbers, too
///   many_threads   has a thread for every value, and sums by whole blocks of threads: a GPU
///   takes_layers   computes layers whole: then it is a LayerBackend
/// and, by default true,
///   trains                    is not for inference alone
///   fuses_update<Optimizer>   has kernels that end in the optimizer's step
template <class B>
concept Backend = BackendLayout<B> && MapsValues<B> && HasPrimitives<B>;
/// One that takes_layers.
template <class B>
concept LayerBackend = BackendLayout<B> && MapsValues<B> && ComputesLayers<B> && takes_layers<B>;

}  // namespace concepts
}  // namespace coldpress
