// What a layer is: concepts, and the functions that supply what a layer leaves out.
#pragma once

#include <coldpress/core/fields.hpp>
#include <coldpress/core/parameter.hpp>
#include <coldpress/core/pointwise.hpp>
#include <coldpress/core/rows.hpp>

#include <array>
#include <cstdint>

namespace coldpress {

/// How a row of scores becomes probabilities, or their logarithms.
enum class Normalization { none, softmax, log_softmax };

/// A plain aggregate that describes itself: its name, its fields, and the shape of a sample it makes of a sample.
template <class L>
concept Layer = requires(L const& layer, Shape in) {
  { L::name } -> std::convertible_to<std::string_view>;
  { layer.output_shape(in) } -> std::same_as<Shape>;
  { layer == layer } -> std::same_as<bool>;
};

/// Acts on every value alone: op(seed) makes its operation; forward, backward and fusion follow from that.
template <class L>
concept PointwiseLayer = Layer<L> && requires(L const& layer, std::uint64_t key) {
  { layer.op(key) } -> Pointwise;
};

/// Changes the shape and nothing else.
template <class L>
concept ViewLayer = Layer<L> && L::is_view;

/// Everything else: says itself how it is computed, with the backend's primitives (backend/cpu.hpp lists them). What it
/// is given is in backend/backend.hpp: ForwardPass and BackwardPass.
///   forward(backend, pass)              pass.y from pass.x
///   backward_input(backend, pass)       pass.dx from pass.dy; without it no gradient passes
///   backward_parameters(backend, pass)  one of pass.sinks a parameter, where it has any
///   backward(backend, pass)             optional: what both need, before them
template <class L>
concept ComputeLayer = Layer<L> && !PointwiseLayer<L> && !ViewLayer<L>;

/// What a sample is compared with: a value for each value of the output, or the number of the one value that counts.
enum class Target { value, label };

/// Whether a value is a label: one of the whole numbers from 0 and below `count`.
template <class T>
constexpr bool is_label(T value, Index count) {
  return value >= 0 && value < static_cast<T>(count) && value == static_cast<T>(static_cast<Index>(value));
}

/// Compares a sample's output y with its target t. The loss of a minibatch is the mean over its samples; the gradient
/// is that of the sum.
///   value(y, t) and gradient(y, t) of one value, for T = float, double or a vector; with Target::label of the labelled
///   value only.
template <class L>
concept Loss = requires(L const& loss, Shape in, double y) {
  { L::name } -> std::convertible_to<std::string_view>;
  { L::target } -> std::convertible_to<Target>;
  { loss.target_shape(in) } -> std::same_as<Shape>;
  { loss.value(y, y) } -> std::same_as<double>;
  { loss.gradient(y, y) } -> std::same_as<double>;
  { loss == loss } -> std::same_as<bool>;
};

/// Neither infinite nor NaN, at compile time too.
constexpr bool is_finite(float x) { return x >= -3.4028234e38f && x <= 3.4028234e38f; }

/// Throws ShapeError unless a loss can be weighed with this.
constexpr void check_loss_weight(float weight) {
  require(weight >= 0 && is_finite(weight), "loss_weight must be a finite number of at least 0");
}

template <class L>
constexpr bool has_parameters = requires(L const& layer, Shape in) {
  layer.parameters(in);
};

/// The layer's parameters for an input shape; none where it does not say.
template <Layer L>
constexpr auto parameters_of(L const& layer, Shape in) {
  if constexpr (has_parameters<L>) {
    return layer.parameters(in);
  } else {
    return std::array<Parameter, 0>{};
  }
}

/// Whether the layer hands a gradient to its input: it does not where it has no backward_input.
template <class L>
constexpr bool backpropagates = PointwiseLayer<L> || ViewLayer<L> || requires(L const& layer, int any) {
  layer.backward_input(any, any);
};

/// Whether the layer applies pass.then and pass.slope itself, on the way to memory; else they are a pass of their own.
template <class L>
constexpr bool fuses = requires {
  requires L::fuses;
};

/// What a run of a layer comprises; it decides how much scratch the layer needs.
struct Extent {
  bool training, input_gradient;
};

/// Values of scratch that a layer needs on a backend, whatever the batch.
template <class Backend, Layer L>
constexpr Index scratch_of(L const& layer, Shape in, Extent extent) {
  if constexpr (requires { layer.template scratch<Backend>(in, extent); }) {
    return layer.template scratch<Backend>(in, extent);
  } else {
    return 0;
  }
}

/// Values a sample that a layer wants for itself, kept from forward to backward: layer.memory(in).
template <Layer L>
constexpr Index memory_of(L const& layer, Shape in) {
  if constexpr (requires { layer.memory(in); }) {
    return layer.memory(in);
  } else {
    return 0;
  }
}

/// Values a sample that a layer carries from one call to the next when it streams: layer.state(in). A layer that
/// carries none can stream only where its input is a single step.
template <Layer L>
constexpr Index state_of(L const& layer, Shape in) {
  if constexpr (requires { layer.state(in); }) {
    return layer.state(in);
  } else {
    return 0;
  }
}

/// The key of a layer's random numbers: network seed, the layer's own seed where it has one, and its name.
template <Layer L>
constexpr std::uint64_t layer_key(L const& layer, std::uint64_t seed, std::string_view layer_name) {
  if constexpr (requires { layer.seed; }) {
    return Stream{seed, layer.seed, layer_name}.key;
  } else if constexpr (requires { layer.dropout_seed; }) {
    return Stream{seed, layer.dropout_seed, layer_name}.key;
  } else {
    return 0;
  }
}

/// Floating-point operations of one sample's forward pass; activations count nothing.
template <Layer L>
constexpr Index flops_of(L const& layer, Shape in) {
  if constexpr (requires { layer.flops(in); }) {
    return layer.flops(in);
  } else {
    return 0;
  }
}

}  // namespace coldpress
