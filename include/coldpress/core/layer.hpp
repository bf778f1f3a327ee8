// What a layer, a loss and a statistic are: concepts. What a layer leaves out core/layer_traits.hpp supplies.
#pragma once

#include <coldpress/core/capabilities.hpp>
#include <coldpress/core/fields.hpp>
#include <coldpress/core/parameter.hpp>
#include <coldpress/core/pointwise.hpp>
#include <coldpress/core/rows.hpp>
#include <coldpress/core/view.hpp>

#include <array>
#include <cstdint>

namespace coldpress {

/// The shapes of a layer's inputs, in order.
using Shapes = View<Shape const>;

/// Takes one input, ...
template <class L>
concept OneInput = requires(L const& layer, Shape const& in) {
  { layer.output_shape(in) } -> std::same_as<Shape>;
};
/// ... or several; how many, its output_shape says, which throws where there are others. What is asked of the shape of
/// the input elsewhere (parameters, memory, scratch, ...) is asked of all shapes, and passes have arrays: x[k], dx[k].
template <class L>
concept ManyInputs = requires(L const& layer, Shapes in) {
  { layer.output_shape(in) } -> std::same_as<Shape>;
};
/// ... or none at all.
template <class L>
concept Source = requires(L const& layer) {
  { layer.output_shape() } -> std::same_as<Shape>;
};

/// A plain aggregate that describes itself: its name, its fields, and the shape of a sample it makes of samples.
template <class L>
concept Layer = (OneInput<L> || ManyInputs<L> || Source<L>)&&requires(L const& layer) {
  { L::name } -> std::convertible_to<std::string_view>;
  { layer == layer } -> std::same_as<bool>;
}
&&declares_well<L>;

/// Acts on every value alone: op(seed) makes its operation; forward, backward and fusion follow from that.
template <class L>
concept PointwiseLayer = Layer<L> && requires(L const& layer, std::uint64_t key) {
  { layer.op(key) } -> Pointwise;
};

/// Combines two values of one shape, element by element: join() makes its operation.
template <class L>
concept JoinLayer = ManyInputs<L> && Layer<L> && requires(L const& layer) {
  { layer.join() } -> Joins;
};

/// Changes the shape and nothing else.
template <class L>
concept ViewLayer = Layer<L> && capabilities_of<L>
.is_view;

/// Everything else: says itself how it is computed, with the backend's primitives (backend/cpu.hpp lists them). What it
/// is given is in backend/backend.hpp: ForwardPass and BackwardPass.
///   forward(backend, pass)              pass.y from pass.x
///   backward_input(backend, pass)       pass.dx from pass.dy; without it no gradient passes
///   backward_parameters(backend, pass)  one of pass.sinks a parameter, where it has any
///   backward(backend, pass)             optional: what both need, before them
/// Without backward_input no gradient gets past it. With several inputs, pass.dx[k] has no data where no gradient of
/// input k is asked for.
template <class L>
concept ComputeLayer = Layer<L> && !PointwiseLayer<L> && !ViewLayer<L> && !JoinLayer<L>;

/// What a sample is compared with: a value for each value of the output, or the number of the one value that counts.
enum class Target { value, label };

/// Whether a value is a label: one of the whole numbers from 0 and below `count`.
template <class T>
constexpr bool is_label(T value, Index count) {
  return value >= 0 && value < static_cast<T>(count) && value == static_cast<T>(static_cast<Index>(value));
}

/// What reads labels, its second input, says for the shape of the first of how many classes they are.
template <class L>
concept Labelled = requires(L const& reader, Shape const& in) {
  { reader.classes(in) } -> std::same_as<Index>;
};

/// Compares a sample's output y with its target t. The loss of a minibatch is the mean over its samples; the gradient
/// is that of the sum. Either element by element,
///   value(y, t) and gradient(y, t) of one value, for T = float, double or a vector; with Target::label of the labelled
///   value only; and target_gradient(y, t) where targets may come from the network,
/// or a whole sample at once, in plain loops:
///   sample(in, y, t, dy, dt)  the value; writes all of dy, and of dt, which may be null.
/// With Target::label it is Labelled, too. Where its weight depends on the shape of what it compares, that is
/// weight_for(in).
template <class L>
concept ElementLoss = requires(L const& loss, double y) {
  { loss.value(y, y) } -> std::same_as<double>;
  { loss.gradient(y, y) } -> std::same_as<double>;
};
template <class L>
concept SampleLoss = requires(L const& loss, Shape const& in, double const* y, double* dy) {
  { loss.sample(in, y, y, dy, dy) } -> std::same_as<double>;
};
template <class L>
concept Loss = (ElementLoss<L> || SampleLoss<L>)&&requires(L const& loss, Shape const& in) {
  { L::name } -> std::convertible_to<std::string_view>;
  { L::target } -> std::convertible_to<Target>;
  requires(L::target == Target::value) || Labelled<L>;
  { loss.target_shape(in) } -> std::same_as<Shape>;
  { loss == loss } -> std::same_as<bool>;
};
/// The loss as it is for values of shape `in`.
template <Loss L>
constexpr L loss_for(L const& loss, Shape const& in) {
  L own = loss;
  if constexpr (requires { loss.weight_for(in); }) own.loss_weight = loss.weight_for(in);
  return own;
}
/// Whether a gradient gets to the targets too: a loss between two values of a network.
template <class L>
constexpr bool has_target_gradient = L::target == Target::value && (SampleLoss<L> || requires(L const& loss, double y) {
                                       loss.target_gradient(y, y);
                                     });

/// Watches values of a network: `sums` numbers, 0 at first, which samples add to, and what they say.
///   check(in)              throws ShapeError unless it can watch values of these shapes
///   observe(in, x, sums)   adds a sample; x[k] are the values of input k, float or double
///   report(sums)           the statistic
/// Makes nothing, and no gradient comes from it.
template <class L>
concept Statistic = requires(L const& statistic, Shapes in, double const* const* x, double* sums) {
  { L::name } -> std::convertible_to<std::string_view>;
  { L::sums } -> std::convertible_to<int>;
  statistic.check(in);
  statistic.observe(in, x, sums);
  { statistic.report(sums) } -> std::same_as<double>;
  { statistic == statistic } -> std::same_as<bool>;
};

/// How many sums a part of a network gathers: a loss that of its values, and the samples.
template <class L>
constexpr int sums_of() {
  if constexpr (Statistic<L>) {
    return L::sums;
  } else {
    return Loss<L> ? 2 : 0;
  }
}
/// What they say: the statistic, or the mean loss of a sample. NaN before the first sample.
template <class L>
double report_of(L const& part, double const* sums) {
  if constexpr (Statistic<L>) {
    return part.report(sums);
  } else {
    return sums[0] / sums[1];
  }
}

/// Neither infinite nor NaN, at compile time too.
constexpr bool is_finite(float x) { return x >= -3.4028234e38f && x <= 3.4028234e38f; }

/// Throws ShapeError unless a loss can be weighed with this.
constexpr void check_loss_weight(float weight) {
  require(weight >= 0 && is_finite(weight), "loss_weight must be a finite number of at least 0");
}

/// What a run of a layer comprises; it decides how much scratch the layer needs. Each worker more makes it as much
/// larger as the first but one.
struct Extent {
  bool training, input_gradient;
  Index blocks = PTRDIFF_MAX;  // that a minibatch may have, of images (core/rows.hpp)
  int workers = 1;
  Index maxima = 0;  // of a sample, where a pooling is one pass with the layer
};

}  // namespace coldpress
