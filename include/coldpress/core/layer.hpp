// The concepts of layers, losses and statistics.
#pragma once

// core/layer_traits.hpp supplies what a layer leaves out.

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

/// A layer with one input, ...
template <class L>
concept OneInput = requires(L const& layer, Shape const& in) {
  { layer.output_shape(in) } -> std::same_as<Shape>;
};
/// ... or with several; its output_shape throws if their number is wrong. The other functions (parameters, memory,
/// scratch, ...) receive the shapes of all inputs instead of one shape, and passes have arrays: x[k], dx[k].
template <class L>
concept ManyInputs = requires(L const& layer, Shapes in) {
  { layer.output_shape(in) } -> std::same_as<Shape>;
};
/// ... or with none.
template <class L>
concept Source = requires(L const& layer) {
  { layer.output_shape() } -> std::same_as<Shape>;
};

/// A layer that can follow another one: it has one input, or is content with one.
template <class L>
concept FollowsOne = OneInput<L> ||(ManyInputs<L>&& capabilities_of<L>.one_input);

/// A plain aggregate with a name, comparable fields, and a function that gives the shape of an output sample.
template <class L>
concept Layer = (OneInput<L> || ManyInputs<L> || Source<L>)&&requires(L const& layer) {
  { L::name } -> std::convertible_to<std::string_view>;
  { layer == layer } -> std::same_as<bool>;
}
&&declares_well<L>;

/// A layer that acts on every value separately. op(key) makes its operation, from which forward, backward and fusion
/// follow.
template <class L>
concept PointwiseLayer = Layer<L> && requires(L const& layer, std::uint64_t key) {
  { layer.op(key) } -> Pointwise;
};

/// A layer that combines two values of the same shape, element by element. join() makes its operation.
template <class L>
concept JoinLayer = ManyInputs<L> && Layer<L> && requires(L const& layer) {
  { layer.join() } -> Joins;
};

/// A layer that only changes the shape.
template <class L>
concept ViewLayer = Layer<L> && capabilities_of<L>
.is_view;

/// Any other layer. It computes with the backend's primitives (listed in backend/concept.hpp). The arguments are
/// described in core/pass.hpp: ForwardPass and BackwardPass.
///   forward(backend, pass)              computes pass.y from pass.x
///   backward_input(backend, pass)       computes pass.dx from pass.dy; without it, no gradient reaches the input
///   backward_parameters(backend, pass)  fills one of pass.sinks per parameter, if it has parameters
///   backward(backend, pass)             optional: computes what both need, before them
/// With several inputs, pass.dx[k] has no data if the gradient of input k is not needed.
template <class L>
concept ComputeLayer = Layer<L> && !PointwiseLayer<L> && !ViewLayer<L> && !JoinLayer<L>;

/// What a sample is compared with: one target per value of the output, or a label, the index of the value that counts.
enum class Target { value, label };

/// Whether a value is a label: a whole number from 0 to count - 1.
template <class T>
constexpr bool is_label(T value, Index count) {
  return value >= 0 && value < static_cast<T>(count) && value == static_cast<T>(static_cast<Index>(value));
}

/// A loss or statistic whose second input is labels. classes(in) is the number of classes for a first input of shape
/// `in`.
template <class L>
concept Labelled = requires(L const& reader, Shape const& in) {
  { reader.classes(in) } -> std::same_as<Index>;
};
/// Whether a loss or statistic leaves a label out: the label is its field `ignore_index`, where it has one.
template <class L, class T>
constexpr bool is_ignored(L const& reader, T label) {
  if constexpr (requires { reader.ignore_index; }) {
    return label == static_cast<T>(reader.ignore_index);
  } else {
    return false;
  }
}

/// A loss compares a sample's output y with its target t. The loss of a minibatch is the mean over its samples; the
/// gradient is that of the sum. A loss is written either element by element, with
///   value(y, t) and gradient(y, t) of one value, for T = float, double or a vector (with Target::label, only of the
///   one value that the label selects), and target_gradient(y, t) if targets may come from the network;
/// or for a whole sample at once, in plain loops, with
///   sample(in, y, t, dy, dt), which returns the loss, writes all of dy, and all of dt unless it is null. dy shares
///   memory with none of the others.
/// With Target::label it must be Labelled, too. If its weight depends on the shape of the output, weight_for(in) gives
/// the weight.
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
/// The loss with the weight that it has for outputs of shape `in`.
template <Loss L>
constexpr L loss_for(L const& loss, Shape const& in) {
  L own = loss;
  if constexpr (requires { loss.weight_for(in); }) own.loss_weight = loss.weight_for(in);
  return own;
}
/// Whether a gradient also reaches the targets, as in a loss between two values of a network.
template <class L>
constexpr bool has_target_gradient = L::target == Target::value && (SampleLoss<L> || requires(L const& loss, double y) {
                                       loss.target_gradient(y, y);
                                     });

/// A statistic observes values of a network. Its state is `sums` numbers, initially 0, to which each sample adds.
///   check(in)              throws ShapeError unless it can observe values of these shapes
///   observe(in, x, sums)   adds a sample; x[k] are the values of input k, float or double
///   report(sums)           computes the statistic
/// It has no output, and no gradient comes from it.
template <class L>
concept Statistic = requires(L const& statistic, Shapes in, double const* const* x, double* sums) {
  { L::name } -> std::convertible_to<std::string_view>;
  { L::sums } -> std::convertible_to<int>;
  statistic.check(in);
  statistic.observe(in, x, sums);
  { statistic.report(sums) } -> std::same_as<double>;
  { statistic == statistic } -> std::same_as<bool>;
};

/// How many sums a part of a network accumulates. A loss has two: the sum of its values and the number of samples.
template <class L>
constexpr int sums_of() {
  if constexpr (Statistic<L>) {
    return L::sums;
  } else {
    return Loss<L> ? 2 : 0;
  }
}
/// What the sums give: the statistic, or the mean loss per sample. It is NaN before the first sample.
template <class L>
double report_of(L const& part, double const* sums) {
  if constexpr (Statistic<L>) {
    return part.report(sums);
  } else {
    return sums[0] / sums[1];
  }
}

/// Whether x is neither infinite nor NaN. It works at compile time, too.
constexpr bool is_finite(float x) { return x >= -3.4028234e38f && x <= 3.4028234e38f; }

/// Throws ShapeError unless this is a valid weight of a loss.
constexpr void check_loss_weight(float weight) {
  require(weight >= 0 && is_finite(weight), "loss_weight must be a finite number of at least 0");
}

/// The size of one run of a layer, from which the size of its scratch follows. The scratch must grow linearly from the
/// second worker on: each further worker needs as much as the second.
struct Extent {
  bool training, input_gradient;
  Index blocks = PTRDIFF_MAX;  // the most blocks of images (core/rows.hpp) in a minibatch
  int workers = 1;
  Index maxima = 0;   // values per sample after a max pooling in the same pass; 0: there is none
  bool adds = false;  // whether the input gradient is added to another
};

}  // namespace coldpress
