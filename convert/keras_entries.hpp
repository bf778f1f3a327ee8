// What the JSON of a model of Keras says of its layers.
#pragma once

#include "keras_builder.hpp"

namespace coldpress::convert::keras {

/// Whether a class is that of a model, which a layer of another model may be, too.
bool is_model(std::string const& kind);

/// The layers of a model, and where each of them has its variables.
std::vector<Layer> layers_of(Node const& model, Place const& place);

/// Throws UnsupportedError with the classes and the names of all layers that are not known, also in models inside.
void refuse_unknown(Node const& model);

/// Throws UnsupportedError for the first layer, also in layers and models inside, whose policy of dtypes says that its
/// weights are quantised.
void refuse_quantised(Node const& model);

/// The output of a call of a layer; call 0 is the first.
struct Source {
  std::string layer;
  std::size_t call = 0;
  auto operator<=>(Source const&) const = default;
};
/// The values that one call of a layer reads, and its named arguments.
struct Call {
  std::vector<Source> sources;
  std::optional<Node> keywords = {};
};

/// The calls of a layer, each of which computes with the same weights. Throws UnsupportedError if one reads more than
/// its arguments and the value and the key of an attention, or if one of Keras 2 computes as in training.
std::vector<Call> calls_of(Node const& layer);

/// The number by which other layers refer to a layer's first call. For a model with an input layer, Keras 2 counts its
/// construction as call 0, which is not in its list.
std::size_t first_call_of(Node const& layer);

/// What "input_layers" or "output_layers" name: [name, call, number], or a list of these.
std::vector<Source> ends_of(Node const& list);

}  // namespace coldpress::convert::keras
