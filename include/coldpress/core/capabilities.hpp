// What a layer may declare about itself in addition to its functions.
#pragma once

// Both structs are aggregates whose members are named in the declaration, so that a misspelt capability does not
// compile. core/layer_traits.hpp reads them.

#include <coldpress/core/shape.hpp>
#include <coldpress/core/view.hpp>

#include <type_traits>

namespace coldpress {

/// How a row of scores becomes probabilities or their logarithms.
enum class Normalization { none, softmax, log_softmax };

/// What a layer type declares:
///   static constexpr Capabilities capabilities{.backward_reads_output = false, .in_place = true};
/// A layer that has backward_input must declare them. The defaults are always correct, but they optimise nothing.
struct Capabilities {
  bool is_view = false;               // changes only the shape, and has no functions
  bool backward_reads_input = true;   // the backward functions read pass.x; otherwise the plan need not keep it
  bool backward_reads_output = true;  // the same for pass.y
  bool in_place = false;              // y may overwrite x, and dx may overwrite dy
  bool fuses = false;         // applies pass.post_ops and pass.derivative itself; otherwise they are separate passes
  bool adds = false;          // fuses, and where pass.derivative adds, adds to what is in pass.dx; has one input
  bool fuses_maxima = false;  // also computes pass.windows, a max pooling that follows, for images in blocks
  bool any_steps = false;     // takes sequences of any number of steps, with the same weights
  bool signals = false;       // a stream's pass may be a block of steps, given as signals (core/rows.hpp), which only
                              // primitives of the backend read and write
  bool loops = false;         // is written in plain loops, which are also compiled as ready-made kernels for each
                              // instruction set; it passes gradients to sinks only by apply_gradient
  bool one_input = false;     // accepts a single input as well as several, as in a Sequential
  bool copies = false;        // moves values in loops of its own, unless they are signals
  Normalization normalization = {};  // may be computed in one pass with the loss after it
};

/// Whether a layer can be called with consecutive parts of a sequence.
enum class StreamSupport {
  automatic,  // if it has a state, or if its input is a single step
  always,     // it treats each step separately, or its state is complete
  never
};
/// The support of a layer that treats each step separately only under a condition.
constexpr StreamSupport streams_if(bool each_step_alone) {
  return each_step_alone ? StreamSupport::always : StreamSupport::automatic;
}

/// What depends on a layer's fields or on the shape of its input. The function receives that shape, or the shapes of
/// all inputs:
///   constexpr InputCapabilities capabilities_for(Shape const& in) const { return {.mixes_samples = true}; }
struct InputCapabilities {
  StreamSupport streaming = StreamSupport::automatic;
  bool mixes_samples = false;     // the result for a sample depends on the other samples, or on its position
  bool image_blocks = false;      // can also compute images in blocks (core/rows.hpp)
  bool image_maxima = false;      // is a max pooling of images, which a layer with fuses_maxima may compute
  bool disjoint_windows = false;  // no two of its windows have a value in common
  bool loops_too = false;         // with these inputs it does not leave all work to primitives of the backend
};

namespace detail {
struct Anything {};  // stands for backends and passes
template <class L>
constexpr bool has_backward_input = requires(L const& layer, Anything const& any) {
  layer.backward_input(any, any);
};

/// Whether &L::NAME is a static member or a function, as in earlier declarations of capabilities. A data member of the
/// layer may have any name.
template <class T>
constexpr bool is_declaration = true;
template <class L, class T>
constexpr bool is_declaration<T L::*> = !std::is_const_v<T const>;  // true only for functions

#define COLDPRESS_MOVED(name, advice)                                      \
  if constexpr (requires { requires is_declaration<decltype(&L::name)>; }) \
  return "layer: the member " #name " is now " advice
#define COLDPRESS_MOVED_TO_TYPE(name, now) \
  COLDPRESS_MOVED(name, "declared by static constexpr Capabilities capabilities{." now "} (core/capabilities.hpp)")
#define COLDPRESS_MOVED_TO_INPUT(name, now)                                                                   \
  COLDPRESS_MOVED(name,                                                                                       \
                  "declared by constexpr InputCapabilities capabilities_for(Shape const& in) const { return " \
                  "{." now "}; } (core/capabilities.hpp)")

/// What a layer that declares a capability in the earlier form has to declare now; null if it declares none in that
/// form.
template <class L>
constexpr char const* declares_as_before() {
  COLDPRESS_MOVED_TO_TYPE(is_view, "is_view = true");
  COLDPRESS_MOVED_TO_TYPE(backward_reads_input, "backward_reads_input = ...");
  COLDPRESS_MOVED_TO_TYPE(backward_reads_output, "backward_reads_output = ...");
  COLDPRESS_MOVED_TO_TYPE(in_place, "in_place = ...");
  COLDPRESS_MOVED_TO_TYPE(fuses, "fuses = ...");
  COLDPRESS_MOVED_TO_TYPE(pools, "fuses_maxima = ...");
  COLDPRESS_MOVED_TO_TYPE(normalization, "normalization = ...");
  COLDPRESS_MOVED_TO_INPUT(by_sample, "mixes_samples = ...");
  COLDPRESS_MOVED_TO_INPUT(by_step, "streaming = StreamSupport::always");
  COLDPRESS_MOVED_TO_INPUT(streams, "streaming = StreamSupport::always or never");
  COLDPRESS_MOVED_TO_INPUT(in_blocks, "image_blocks = ...");
  COLDPRESS_MOVED_TO_INPUT(maxima, "image_maxima = ...");
  COLDPRESS_MOVED_TO_INPUT(apart, "disjoint_windows = ...");
  return nullptr;
}
#undef COLDPRESS_MOVED_TO_INPUT
#undef COLDPRESS_MOVED_TO_TYPE
#undef COLDPRESS_MOVED

/// Whether capabilities_for, where a layer has it, takes what output_shape takes: one shape, or those of all inputs.
template <class L>
constexpr bool asks_for_its_inputs() {
  if constexpr (!requires { &L::capabilities_for; }) {
    return true;
  } else if constexpr (requires(L const& layer, Shape const& in) { layer.output_shape(in); }) {
    return requires(L const& layer, Shape const& in) { layer.capabilities_for(in); };
  } else {
    return requires(L const& layer, View<Shape const> in) { layer.capabilities_for(in); };
  }
}

/// What is wrong with the declarations of a layer, as a sentence; null: nothing is.
template <class L>
constexpr char const* wrong_declaration() {
  if constexpr (declares_as_before<L>() != nullptr) {
    return declares_as_before<L>();
  } else if constexpr (!asks_for_its_inputs<L>()) {
    return "layer: capabilities_for must be const and take the Shape of its input, or the Shapes of all inputs";
  } else if constexpr (requires { L::capabilities; }) {
    if constexpr (!std::is_same_v<decltype(L::capabilities), Capabilities const>) {
      return "layer: its capabilities must be declared as static constexpr Capabilities capabilities{...}";
    } else if constexpr (!requires { typename std::bool_constant<(L::capabilities.is_view || true)>; }) {
      return "layer: its capabilities are not a constant";
    } else {
      return nullptr;
    }
  } else if constexpr (has_backward_input<L>) {
    return "layer: a layer with backward_input must declare what that reads: static constexpr Capabilities "
           "capabilities{.backward_reads_input = ..., .backward_reads_output = ...}";
  } else {
    return nullptr;
  }
}
}  // namespace detail

/// Whether the declarations of a layer are right. A part of the concept Layer.
template <class L>
constexpr bool declares_well = detail::wrong_declaration<L>() == nullptr;

/// The capabilities that a layer type declares, or the defaults.
template <class L>
constexpr Capabilities capabilities_of = [] {
  if constexpr (declares_well<L> && requires { L::capabilities; }) {
    return L::capabilities;
  } else {
    return Capabilities{};
  }
}();

}  // namespace coldpress
