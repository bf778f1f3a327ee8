// Models in Keras' files. Link coldpress::convert.
#pragma once

#include <coldpress/persist/model.hpp>

#include <optional>
#include <string>

namespace coldpress::convert {

struct KerasOptions {
  std::optional<Shape> input = {};  // the shape of a sample, for extents that the model leaves open
  bool channels_last = false;       // whether images come and go as {height, width, channels}, as in Keras
};

/// Reads a model, Sequential or functional, from a .keras file of Keras 3 or from a .h5 file that Keras 2 or 3 wrote:
/// layers and weights. Layers have the names that they have in Keras; the activation of the layer `dense` is called
/// dense.activation.
///
/// Keras has images {height, width, channels}, and this library {channels, height, width}. The network computes with
/// channels first: the weights are transposed, and the rows of the Dense behind a Flatten are put in that order. It
/// also takes images like that, unless options.channels_last says otherwise. Sequences are {steps, features} in both; a
/// model with any number of steps is read for one step, or for those of options.input.
///
/// Throws FileError; FormatError with the place in the config (config.layers[2].config.units) or the name of the
/// dataset if the file is damaged or the weights have other shapes than the layers need; UnsupportedError, which names
/// all layers that are not known, or says what a layer does that coldpress' layer does not, or if the library was built
/// without HDF5 or nlohmann-json; and ShapeError for an input that does not fit. HDF5 files, also those in .keras
/// files, must come from a source that is trusted, but unpack to at most 100 times their size and 1 MiB.
[[nodiscard]] persist::Model read_keras(std::string const& path, KerasOptions const& options = {});

}  // namespace coldpress::convert
