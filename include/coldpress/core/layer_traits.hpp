// What the library asks of a layer besides its name, fields and output shape: the capabilities that it declares, and
// what its functions say, with defaults for what it leaves out.
#pragma once

#include <coldpress/core/layer.hpp>

#include <utility>

namespace coldpress {

namespace detail {
/// What a layer is asked about: the shape of its input, or the shapes of all.
template <Layer L>
constexpr decltype(auto) asked(Shapes in) {
  if constexpr (OneInput<L>) {
    require(in.size() == 1, "layer: takes one input, neither none nor several");
    return in[0];
  } else {
    require(ManyInputs<L> || in.empty(), "layer: takes no input");
    return in;
  }
}
template <class L>
using Asked = std::conditional_t<OneInput<L>, Shape, Shapes>;
}  // namespace detail

/// The shape of a sample that a layer makes.
template <Layer L>
constexpr Shape output_shape_of(L const& layer, Shapes in) {
  if constexpr (Source<L>) {
    require(in.empty(), "layer: takes no input");
    return layer.output_shape();
  } else {
    return layer.output_shape(detail::asked<L>(in));
  }
}

template <class L>
constexpr bool has_parameters = requires(L const& layer, detail::Asked<L> in) {
  layer.parameters(in);
};

/// The layer's parameters for input shapes; none where it does not say.
template <Layer L>
constexpr auto parameters_of(L const& layer, Shapes in) {
  if constexpr (has_parameters<L>) {
    return layer.parameters(detail::asked<L>(in));
  } else {
    return std::array<Parameter, 0>{};
  }
}
template <Layer L>
constexpr auto parameters_of(L const& layer, Shape const& in) {
  return parameters_of(layer, Shapes{&in, 1});
}

/// Values of scratch that a layer needs on a backend, whatever the batch.
template <class Backend, Layer L>
constexpr Index scratch_of(L const& layer, Shapes in, Extent extent) {
  if constexpr (requires { layer.template scratch<Backend>(detail::asked<L>(in), extent); }) {
    return layer.template scratch<Backend>(detail::asked<L>(in), extent);
  } else {
    return 0;
  }
}

/// Values per sample that a layer wants for itself, kept from forward to backward: layer.memory(in).
template <Layer L>
constexpr Index memory_of(L const& layer, Shapes in) {
  if constexpr (requires { layer.memory(detail::asked<L>(in)); }) {
    return layer.memory(detail::asked<L>(in));
  } else {
    return 0;
  }
}

/// Values per sample that a layer carries from one call to the next when it streams: layer.state(in). A layer that
/// carries none can stream only where its input is a single step.
template <Layer L>
constexpr Index state_of(L const& layer, Shapes in) {
  if constexpr (requires { layer.state(detail::asked<L>(in)); }) {
    return layer.state(detail::asked<L>(in));
  } else {
    return 0;
  }
}

/// The number of earlier steps of its input that a layer reads where its forward pass is given signals: layer.past(in).
/// The stream keeps them, and the layer needs no state.
template <Layer L>
constexpr bool reads_past = requires(L const& layer, Shape const& in) {
  { layer.past(in) } -> std::same_as<Index>;
};
template <Layer L>
constexpr Index window_of(L const& layer, Shapes in) {
  if constexpr (reads_past<L>) {
    return layer.past(in[0]);
  } else {
    return 0;
  }
}
/// The number of earlier steps of its input on which a layer's output depends: window_of, if the layer reads past
/// steps; layer.remembers(in), if it says so of its state; otherwise endless_past if it has a state, and 0 if it has
/// none.
inline constexpr Index endless_past = Index{1} << 40;
template <Layer L>
constexpr Index past_of(L const& layer, Shapes in) {
  if constexpr (reads_past<L>) {
    return window_of(layer, in);
  } else if constexpr (requires { layer.remembers(detail::asked<L>(in)); }) {
    return layer.remembers(detail::asked<L>(in));
  } else {
    return state_of(layer, in) > 0 ? endless_past : 0;
  }
}

/// Whether all that a layer computes depends on random numbers, and not only a part, as with a dropout_seed.
template <class L>
constexpr bool has_seed = requires(L const& layer) {
  layer.seed;
};
/// Whether a layer draws random numbers, which depend on its name.
template <class L>
constexpr bool draws_numbers = has_seed<L> || requires(L const& layer) {
  layer.dropout_seed;
};

/// The key of a layer's random numbers: network seed, the layer's own seed where it has one, and its name.
template <Layer L>
constexpr std::uint64_t layer_key(L const& layer, std::uint64_t seed, std::string_view layer_name) {
  if constexpr (has_seed<L>) {
    return RandomStream{seed, layer.seed, layer_name}.key;
  } else if constexpr (draws_numbers<L>) {
    return RandomStream{seed, layer.dropout_seed, layer_name}.key;
  } else {
    return 0;
  }
}

/// Floating-point operations of one sample's forward pass; activations are not counted.
template <Layer L>
constexpr Index flops_of(L const& layer, Shapes in) {
  if constexpr (requires { layer.flops(detail::asked<L>(in)); }) {
    return layer.flops(detail::asked<L>(in));
  } else {
    return 0;
  }
}

/// What a type of layer is capable of: its declarations (core/capabilities.hpp), as far as they mean anything for a
/// layer of its kind. Nothing else reads the declarations.
template <class L>
struct LayerTraits {
 private:
  static constexpr Capabilities declared = capabilities_of<L>;

 public:
  /// Whether gradients get past the layer.
  static constexpr bool propagates = !ComputeLayer<L> || detail::has_backward_input<L>;
  static constexpr bool has_backward = propagates || has_parameters<L>;
  static constexpr bool backward_reads_input = has_backward && declared.backward_reads_input;
  static constexpr bool backward_reads_output = has_backward && declared.backward_reads_output;
  static constexpr bool in_place = declared.in_place;
  static constexpr bool fuses = declared.fuses;
  /// Whether the input gradient can be added to others as it is computed.
  static constexpr bool adds = declared.fuses && declared.adds && OneInput<L>;
  static constexpr bool fuses_maxima = declared.fuses_maxima;
  static constexpr bool any_steps = declared.any_steps;
  static constexpr bool signals = declared.signals;
  static constexpr bool loops = ComputeLayer<L> && declared.loops;
  static constexpr Normalization normalization = declared.normalization;
  static constexpr bool normalizes = normalization != Normalization::none;
  /// Of a built-in layer: whether its forward pass in inference consists only of calls of primitives, which can be
  /// recorded, unless it says `loops_too` of its inputs.
  static constexpr bool calls_primitives = fuses || normalizes || (signals && !declared.copies);

  /// Of a pointwise layer: whether it asks which value of which sample it is given.
  static constexpr bool positioned = [] {
    if constexpr (PointwiseLayer<L>) {
      return is_positioned<std::remove_cvref_t<decltype(std::declval<L const&>().op(0))>> || has_seed<L>;
    } else {
      return false;
    }
  }();

  /// What it is capable of with inputs of these shapes; streaming is either `always` or `never`.
  static constexpr InputCapabilities with_input(L const& layer, Shapes in) {
    InputCapabilities all{};
    if constexpr (requires { layer.capabilities_for(detail::asked<L>(in)); }) {
      using Declared = decltype(layer.capabilities_for(detail::asked<L>(in)));
      static_assert(std::is_same_v<Declared, InputCapabilities>, "layer: capabilities_for returns InputCapabilities");
      all = layer.capabilities_for(detail::asked<L>(in));
    }
    if (all.streaming == StreamSupport::automatic) {
      bool one_step = true;
      for (Shape const& shape : in) one_step = one_step && (shape.rank() == 1 || shape[0] == 1);
      bool const streams = PointwiseLayer<L> || JoinLayer<L> || one_step || state_of(layer, in) > 0;
      all.streaming = streams ? StreamSupport::always : StreamSupport::never;
    }
    all.mixes_samples = all.mixes_samples || has_seed<L> || positioned;  // random numbers are counted by sample
    return all;
  }
};

/// Whether what a layer, or a loss, makes of a sample depends on neither the others of the minibatch nor its place
/// among them.
template <class L>
constexpr bool is_by_sample(L const& part, Shapes in) {
  if constexpr (Layer<L>) {
    return !LayerTraits<L>::with_input(part, in).mixes_samples;
  } else {
    return Loss<L>;  // a statistic adds samples up
  }
}

}  // namespace coldpress
