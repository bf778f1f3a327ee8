// Models in RTNeural's JSON files. Link coldpress::convert.
#pragma once

#include <coldpress/persist/model.hpp>

#include <optional>
#include <string>

namespace coldpress::convert {

struct RtneuralOptions {
  std::optional<Shape> input = {};  // {steps, features} instead of {features}, for training and forward
};

/// Reads a model that RTNeural's Python exporter wrote: a JSON object with "in_shape" and "layers". A sample of the
/// network is one step, {features}, so that `step` computes what RTNeural's `forward` does for each frame. Layer i is
/// called layerI, and its activation layerI.activation.
///
/// The types are dense and time-distributed-dense, conv1d (causal, as RTNeural computes it), gru (with
/// reset_after, unless its biases are one list), lstm, prelu, batchnorm and activation; tanh, relu, sigmoid, softmax
/// and elu are the activations. conv2d and batchnorm2d, whose steps have features of several channels, {features,
/// channels}, become layers of all of these values: a convolution of the sequence with zeros where the filters do not
/// reach.
///
/// Throws FileError; FormatError with the place in the JSON (layers[2].weights[0][5]) if the file is damaged or has
/// weights of other shapes than its layers; UnsupportedError, which names all layers that are not known, or if the
/// library was built without nlohmann-json; and ShapeError for another input than the model's. All sizes are checked
/// before memory is taken.
[[nodiscard]] persist::Model read_rtneural(std::string const& path, RtneuralOptions const& options = {});

}  // namespace coldpress::convert
