// The bodies of kernels, each of which is called by all threads of a grid.
#pragma once

// Their types are made of types and numbers only, so that nvcc and g++ give them the same names. They contain nothing
// but numbers and addresses in the device's memory.

#include "any_chain.hpp"

#include <coldpress/cuda/pass.hpp>
#include <coldpress/graph/node.hpp>
#include <coldpress/optim/optimizers.hpp>
#include <coldpress/run/update.hpp>

#include <limits>

namespace coldpress::cuda {

using In = Rows<float const>;
using Out = Rows<float>;

inline constexpr int max_parameters = 4;  // per layer

/// One T for each parameter of a layer: its address, or the sink of its gradient.
template <class T>
struct OfParameters {
  T list[max_parameters];
  constexpr T const& operator[](int i) const { return list[i]; }
};
/// The shapes of a layer's inputs, by value.
struct InputShapes {
  Shape list[max_inputs];
  std::size_t count;
  constexpr Shape const* data() const { return list; }
  constexpr std::size_t size() const { return count; }
  constexpr Shape const& operator[](std::size_t k) const { return list[k]; }
};
template <class L>
using InputsOf = std::conditional_t<OneInput<L>, Shape, InputShapes>;
template <class L>
using ValuesOf = std::conditional_t<OneInput<L>, Out, std::array<Out, max_inputs>>;

/// The variant of a convolution of volumes, which has kernels of its own. Those of images and sequences stay small.
struct OfVolumes {
  using value_type = ConvolutionKind;
  static constexpr ConvolutionKind value = ConvolutionKind::volume;
};
template <class L>
constexpr bool takes_volumes = std::is_same_v<L, Convolution> || std::is_same_v<L, ConvolutionTranspose>;

/// A layer's forward function, ...
template <class L, class Variant = NoVariant>
struct Forward {
  using Pass = ForwardPass<InputsOf<L>, ValuesOf<L>, OfParameters<float const*>, Out, AnyPostOps, float, float*,
                           NoWindows, Variant>;
  L layer;
  Pass pass;
  constexpr void operator()(Grid const& grid) const { layer.forward(grid, pass); }
};
/// ... and its backward functions; `common` computes what the other two need.
enum class Stage { common, input, parameters };
template <class L, Stage stage, class Variant = NoVariant>
struct Backward {
  using Pass = BackwardPass<InputsOf<L>, ValuesOf<L>, OfParameters<float const*>, Out, Out, ValuesOf<L>, AnyChain,
                            OfParameters<GradientSink<float>>, float, NoWindows, Variant>;
  L layer;
  Pass pass;
  static constexpr bool exists = [] {
    if constexpr (stage == Stage::common) return requires(L l, Grid g, Pass p) {
        l.backward(g, p);
      };
    if constexpr (stage == Stage::input) return requires(L l, Grid g, Pass p) {
        l.backward_input(g, p);
      };
    return has_parameters<L>;
  }();
  constexpr void operator()(Grid const& grid) const {
    if constexpr (stage == Stage::common) layer.backward(grid, pass);
    if constexpr (stage == Stage::input) layer.backward_input(grid, pass);
    if constexpr (stage == Stage::parameters) layer.backward_parameters(grid, pass);
  }
};

/// The bias gradient of a layer whose products a library computes. A dense layer counts as a convolution of one pixel.
struct BiasGradient {
  ConvolutionGeometry geometry;
  In dy;
  GradientSink<float> sink;
  constexpr void operator()(Grid const& grid) const {
    if (geometry.positions() == 1) return grid.sum_rows(dy, sink);
    grid.sum_positions(geometry, dy, sink);
  }
};
/// Copies a recurrent layer's values to or from a library's memory.
struct CopySteps {
  Sequence<float const> from;
  Sequence<float> to;
  constexpr void operator()(Grid const& grid) const { grid.copy(from, to); }
};
struct Map {
  In x;
  Out y;
  AnyPostOps post_ops;
  constexpr void operator()(Grid const& grid) const { grid.map(x, y, post_ops); }
};
struct MapGradient {
  In dy;
  Out dx;
  AnyDerivative derivative;
  constexpr void operator()(Grid const& grid) const { grid.map_gradient(dy, dx, derivative); }
};
struct AddGradient {
  In dy;
  Out dx;
  AnyDerivative derivative;
  constexpr void operator()(Grid const& grid) const { grid.add_gradient(dy, dx, derivative); }
};
template <class L>
struct JoinGradient {
  L layer;
  bool second;
  In dy, a, b;
  Out dx;
  AnyDerivative derivative;
  constexpr void operator()(Grid const& grid) const { grid.join_gradient(layer, second, dy, a, b, dx, derivative); }
};
struct Normalize {
  Normalization kind;
  In x;
  Out y;
  constexpr void operator()(Grid const& grid) const { grid.normalize(kind, x, y); }
};
struct NormalizeGradient {
  Normalization kind;
  In y, dy;
  Out dx;
  constexpr void operator()(Grid const& grid) const { grid.normalize_gradient(kind, y, dy, dx); }
};
/// Computes a loss; stores the mean in *mean.
template <class L>
struct LossOf {
  L loss;
  Normalization kind;
  In x;
  Out y;
  In target;
  Out dx;
  float* mean;
  constexpr void operator()(Grid const& grid) const {
    float const value = grid.loss(loss, kind, x, y, target, dx);
    grid.each(1, [&](Index) { *mean = value; });
  }
};
template <class L>
struct SampleLossOf {
  L loss;
  Shape in;
  In y, target;
  Out dy, dt;
  float* mean;
  constexpr void operator()(Grid const& grid) const {
    float const value = grid.sample_losses(loss, in, y, target, dy, dt);
    grid.each(1, [&](Index) { *mean = value; });
  }
};
template <class L>
struct TargetGradient {
  L loss;
  In y, target;
  Out dt;
  constexpr void operator()(Grid const& grid) const { grid.loss_target_gradient(loss, y, target, dt); }
};
/// Adds a mean loss to the sums over all batches: the sum over samples, and their number.
struct Gather {
  float const* mean;
  Index batch;
  double* sums;
  constexpr void operator()(Grid const& grid) const {
    grid.each(1, [&](Index) {
      sums[0] += static_cast<double>(*mean) * static_cast<double>(batch);
      sums[1] += static_cast<double>(batch);
    });
  }
};
/// Shows samples to a statistic, one after another.
template <class S>
struct Observe {
  S statistic;
  InputShapes in;
  Out x[2];
  double* sums;
  constexpr void operator()(Grid const& grid) const {
    grid.each(1, [&](Index) {
      for (Index i = 0; i < x[0].rows; ++i) {
        float const* const sample[2] = {x[0].row(i), in.count > 1 ? x[1].row(i) : nullptr};
        statistic.observe(in, sample, sums);
      }
    });
  }
};
/// weights -= gradients
struct Subtract {
  float* weights;
  float const* gradients;
  Index size;
  constexpr void operator()(Grid const& grid) const {
    grid.each(size, [&](Index e) { weights[e] -= gradients[e]; });
  }
};
/// A part of a parameter, of at most `most` values, that one block updates.
struct Chunk {
  static constexpr Index most = 2048;
  int parameter;
  Index first, size;  // in the flat buffers, in floats
};
/// The end of a training step: updates all parameters, with gradients clipped by their common norm if the step says so.
/// All pointers, including those to the step's flags, are to the device's memory.
template <class Optimizer>
struct Update {
  UpdateStep<Optimizer, float> update_step;
  float const* gradients;
  Slots slots;
  int parameters;
  Chunk const* chunks;
  Index count;
  double* norms;  // one per chunk
  bool bounded;   // whether the norm of some parameter's weights is limited

  /// A dry run on the host could not estimate this, because the tables that it reads are in the device's memory.
  constexpr grid::LaunchEstimate estimate() const {
    grid::LaunchEstimate estimate{.barriers = (update_step.clips() ? 2 : 0) + (bounded ? parameters : 0)};
    for (int sweeps = update_step.clips() ? 2 : 1; sweeps > 0; --sweeps)
      estimate.add(count, grid::assumed::value * grid::parts(Chunk::most, grid::threads));
    return estimate;
  }
  constexpr void operator()(Grid const& grid) const {
    double norm = 0;
    if (update_step.clips()) {
      grid.each_block(count, [&](grid::Block const& block, Index n) { squared_norm(block, n); });
      norm = grid.sum_of(count, [&](Index n) { return norms[n]; });
    }
    grid.each_block(count, [&](grid::Block const& block, Index n) {
      Chunk const chunk = chunks[n];
      auto const sink = update_step.sink(slots, parameters, chunk.parameter, norm);
      Index const first = chunk.first - slots.slots[chunk.parameter].offset;
      block.each([&](int t) {
        for (Index e = t; e < chunk.size; e += grid::threads) sink.take(first + e, gradients[chunk.first + e]);
      });
    });
    if (bounded) update_step.constrain(grid, slots, parameters);
  }

 private:
  /// The squared norm of the gradients of chunk n, as far as they are clipped.
  constexpr void squared_norm(grid::Block const& block, Index n) const {
    Chunk const chunk = chunks[n];
    bool const counts = update_step.is_clipped(slots, chunk.parameter);
    double* const own = block.doubles();
    block.each([&](int t) {
      double sum = 0;
      for (Index e = t; counts && e < chunk.size; e += grid::threads) {
        double const gradient = static_cast<double>(gradients[chunk.first + e]);
        sum += gradient * gradient;
      }
      own[t] = sum;
    });
    block.halve(1, [&](int t, int other) { own[t] += own[other]; });
    block.each([&](int t) {
      if (t == 0) norms[n] = own[0];
    });
  }
};

}  // namespace coldpress::cuda
