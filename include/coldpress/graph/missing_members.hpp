// Says which member a layer, a loss or a statistic of the user's own lacks.
#pragma once

#include <coldpress/core/layer.hpp>

#include <utility>

namespace coldpress::detail {

template <class L>
constexpr bool resembles_loss = !(OneInput<L> || ManyInputs<L> || Source<L>)&&(
    requires { &L::target_shape; } || requires { L::target; } || requires { &L::weight_for; } ||
    requires(L const& loss) { loss.value(1.0, 1.0); } || requires(L const& loss) { loss.gradient(1.0, 1.0); });

/// What keeps L from being a Loss, as a sentence; null: nothing does.
template <class L>
constexpr char const* missing_in_loss() {
  constexpr bool value = requires(L const& loss, double y) { loss.value(y, y); };
  constexpr bool gradient = requires(L const& loss, double y) { loss.gradient(y, y); };
  if constexpr (Loss<L>) {
    return nullptr;
  } else if constexpr (!requires { L::name; }) {
    return "the loss lacks a name: static constexpr std::string_view name = \"...\"";
  } else if constexpr (!requires {
                         { L::target } -> std::convertible_to<Target>;
                       }) {
    return "the loss lacks target: static constexpr Target target = Target::value, or Target::label for class numbers";
  } else if constexpr (!requires(L const& loss, Shape const& in) {
                         { loss.target_shape(in) } -> std::same_as<Shape>;
                       }) {
    return "the loss lacks target_shape: constexpr Shape target_shape(Shape const& in) const";
  } else if constexpr (!requires(L const& loss) { loss == loss; }) {
    return "the loss lacks a comparison: bool operator==(TYPE const&) const = default";
  } else if constexpr (value && !gradient) {
    return "the loss lacks gradient: template <class T> constexpr T gradient(T y, T t) const";
  } else if constexpr (gradient && !value) {
    return "the loss lacks value: template <class T> constexpr T value(T y, T t) const";
  } else if constexpr (!ElementLoss<L> && !SampleLoss<L>) {
    return "the loss lacks value(y, t) and gradient(y, t) of a type T, or sample(in, y, t, dy, dt)";
  } else {
    return "the loss reads labels, but lacks classes: constexpr Index classes(Shape const& in) const";
  }
}

/// What keeps Op, which op(key) of a layer returns, from being Pointwise; null: nothing does.
template <class Op>
constexpr char const* missing_in_operation() {
  if constexpr (!requires(Op const& op, double x, Position at) {
                  { op.value(x, at) } -> std::same_as<double>;
                }) {
    return "the operation of op(key) lacks value: template <class T> T value(T x, Position) const";
  } else if constexpr (!requires(Op const& op, double x, Position at) {
                         { op.gradient(x, x, at) } -> std::same_as<double>;
                       }) {
    return "the operation of op(key) lacks gradient: template <class T> T gradient(T x, T y, Position) const";
  } else if constexpr (!requires {
                         { Op::needs_input } -> std::convertible_to<bool>;
                       }) {
    return "the operation of op(key) lacks needs_input, whether its gradient reads x: static constexpr bool "
           "needs_input = true";
  } else if constexpr (!requires {
                         { Op::heavy } -> std::convertible_to<bool>;
                       }) {
    return "the operation of op(key) lacks heavy, whether its code is long: static constexpr bool heavy = false";
  } else {
    return nullptr;
  }
}
/// The same of the operation of join().
template <class Op>
constexpr char const* missing_in_join() {
  if constexpr (!requires(Op const& op, double x) {
                  { op.value(x, x) } -> std::same_as<double>;
                }) {
    return "the operation of join() lacks value: template <class T> T value(T a, T b) const";
  } else if constexpr (!requires(Op const& op, double x) {
                         { op.first(x, x) } -> std::same_as<double>;
                         { op.second(x, x) } -> std::same_as<double>;
                       }) {
    return "the operation of join() lacks first or second, its derivatives: template <class T> T first(T a, T b) const";
  } else if constexpr (!Joins<Op>) {
    return "the operation of join() lacks needs_inputs or commutes: static constexpr bool commutes = true";
  } else {
    return nullptr;
  }
}

/// What keeps L from being a part of a network; null: nothing does.
template <class L>
constexpr char const* missing_in() {
  if constexpr (Loss<L> || Statistic<L>) {
    return nullptr;
  } else if constexpr (!std::is_class_v<L>) {
    return "it is a value of a built-in type, not a layer";
  } else if constexpr (resembles_loss<L>) {
    return missing_in_loss<L>();
  } else if constexpr (!(OneInput<L> || ManyInputs<L> || Source<L>)) {
    return "the layer lacks output_shape: constexpr Shape output_shape(Shape const& in) const";
  } else if constexpr (!requires {
                         { L::name } -> std::convertible_to<std::string_view>;
                       }) {
    return "the layer lacks a name: static constexpr std::string_view name = \"...\"";
  } else if constexpr (!requires(L const& layer) {
                         { layer == layer } -> std::same_as<bool>;
                       }) {
    return "the layer lacks a comparison: bool operator==(TYPE const&) const = default";
  } else if constexpr (wrong_declaration<L>() != nullptr) {
    return wrong_declaration<L>();
  } else if constexpr (!ViewLayer<L> && !PointwiseLayer<L> && !JoinLayer<L> &&
                       !requires(L const& layer, Anything const& any) { layer.forward(any, any); }) {
    if constexpr (OneInput<L> && requires(L const& layer) { layer.op(0); }) {
      return missing_in_operation<decltype(std::declval<L const&>().op(0))>();
    } else if constexpr (ManyInputs<L> && requires(L const& layer) { layer.join(); }) {
      return missing_in_join<decltype(std::declval<L const&>().join())>();
    } else {
      return "layer: it needs op(key), which returns a Pointwise operation, or join(), which returns one that Joins, "
             "or is_view, or forward";
    }
  } else {
    return nullptr;
  }
}

}  // namespace coldpress::detail
