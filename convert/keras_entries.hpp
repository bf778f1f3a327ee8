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

/// The names of the layers whose outputs a layer reads. Throws UnsupportedError if it is called several times, or reads
/// more than its arguments.
std::vector<std::string> sources_of(Node const& layer);

/// What the call of a layer is given by name; nothing in files of Keras 2.
std::optional<Node> keywords_of(Node const& layer);

/// Names of layers in "input_layers" or "output_layers": [name, node, number], or a list of these.
std::vector<std::string> ends_of(Node const& list);

}  // namespace coldpress::convert::keras
