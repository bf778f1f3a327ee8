// What a layer may declare of itself beside its functions. Both structs are aggregates whose members are named in the
// declaration, so that a misspelt capability does not compile. core/layer_traits.hpp reads them.
#pragma once

#include <type_traits>

namespace coldpress {

/// How a row of scores becomes probabilities, or their logarithms.
enum class Normalization { none, softmax, log_softmax };

/// What a type of layer declares:
///   static constexpr Capabilities capabilities{.backward_reads_output = false, .in_place = true};
/// A layer that has backward_input must declare them. By default everything works, and nothing is optimised.
struct Capabilities {
  bool is_view = false;               // changes the shape and nothing else, and has no functions
  bool backward_reads_input = true;   // the backward functions read pass.x; else the plan need not keep it
  bool backward_reads_output = true;  // likewise pass.y
  bool in_place = false;              // y may be where x is, and dx where dy is
  bool fuses = false;                 // applies pass.then and pass.slope itself; else they are passes of their own
  bool fuses_maxima = false;          // and of images in blocks, computes pass.windows, the max pooling that follows
  bool any_steps = false;             // takes sequences of any number of steps with the same weights
  Normalization normalization = {};   // one pass with the loss after it
};

/// Whether a layer can be called with one part of a sequence after the other.
enum class StreamSupport {
  automatic,  // where it has a state, or its input is a single step
  always,     // it treats each step alone, or has all the state that it needs
  never
};
/// For a layer that treats each step alone under a condition.
constexpr StreamSupport streams_if(bool each_step_alone) {
  return each_step_alone ? StreamSupport::always : StreamSupport::automatic;
}

/// What depends on a layer's fields, or on the shape of its input (of several: on all shapes), by which it is called:
///   constexpr InputCapabilities capabilities_for(Shape const& in) const { return {.mixes_samples = true}; }
struct InputCapabilities {
  StreamSupport streaming = StreamSupport::automatic;
  bool mixes_samples = false;     // what it makes of a sample depends on the others, or on its place among them
  bool image_blocks = false;      // computes images in blocks (core/rows.hpp) as well
  bool image_maxima = false;      // is a max pooling of images, which a layer that fuses_maxima may compute
  bool disjoint_windows = false;  // of which no two have a value in common
};

namespace detail {
/// Whether &L::NAME is that of a static member or of a function, as capabilities were once declared. A field of the
/// layer may have any name.
template <class T>
constexpr bool is_declaration = true;
template <class L, class T>
constexpr bool is_declaration<T L::*> = !std::is_const_v<T const>;  // true of functions alone

#define COLDPRESS_MOVED(name, advice) \
  static_assert(                      \
      !requires { requires is_declaration<decltype(&L::name)>; }, "layer: the member " #name " is now " advice)
#define COLDPRESS_MOVED_TO_TYPE(name, now) \
  COLDPRESS_MOVED(name, "declared by static constexpr Capabilities capabilities{." now "} (core/capabilities.hpp)")
#define COLDPRESS_MOVED_TO_INPUT(name, now)                                                                   \
  COLDPRESS_MOVED(name,                                                                                       \
                  "declared by constexpr InputCapabilities capabilities_for(Shape const& in) const { return " \
                  "{." now "}; } (core/capabilities.hpp)")

/// A layer that still declares a capability as it was done before does not compile, and is told how it is done now.
template <class L>
constexpr bool declares_as_before() {
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
  return false;
}
#undef COLDPRESS_MOVED_TO_INPUT
#undef COLDPRESS_MOVED_TO_TYPE
#undef COLDPRESS_MOVED
}  // namespace detail

/// The capabilities that a type of layer declares, or the defaults.
template <class L>
constexpr Capabilities capabilities_of = [] {
  static_assert(!detail::declares_as_before<L>());
  if constexpr (requires { L::capabilities; }) {
    static_assert(std::is_same_v<decltype(L::capabilities), Capabilities const>,
                  "layer: its capabilities must be declared as static constexpr Capabilities capabilities{...}");
    return L::capabilities;
  } else {
    return Capabilities{};
  }
}();
/// Always true, or an error that says what is wrong with the declarations. A part of the concept Layer, so that the
/// error stands where the layer is used.
template <class L>
constexpr bool declares_well = capabilities_of<L>.is_view || true;

}  // namespace coldpress
