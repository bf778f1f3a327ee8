// Networks in ONNX files, as PyTorch, Keras and others export them. Link coldpress::convert.
#pragma once

#include <coldpress/convert/weights.hpp>

#include <optional>
#include <string>
#include <vector>

namespace coldpress::convert {

struct OnnxOptions {
  /// The shape of one sample, for a model with one input that leaves extents open, such as the number of steps.
  std::optional<Shape> input = {};
  /// Whether an axis of each input counts samples: the one whose extent is open or named after a batch, or else the
  /// first. If not, the inputs are one sample each.
  bool batched = true;
  /// Whether inputs and outputs [samples, channels, steps] are sequences {steps, channels} here, as a network must have
  /// them that is to be streamed.
  bool steps_first = false;
};

/// Whether the library was built with protobuf, which ONNX's files need.
[[nodiscard]] bool has_onnx();

/// Whether the file begins as an ONNX model does. Throws FileError.
[[nodiscard]] bool is_onnx(std::string const& path);

/// The network of an ONNX model, of operators of version 7 or newer, with its weights. A sample has the shape of the
/// model's input without the axis that counts samples. Operators on constants are computed; several operators that are
/// one layer become that layer; values are permuted only where something depends on their order. Layers are named after
/// PyTorch's modules where the file tells them, and outputs as in the file. `filled` says which tensor of the model
/// each weight is. Metadata of the model are kept, and the names of classes in "names", "class_names" or "labels".
///
/// Throws UnsupportedError, which lists all operators that are in the way, with their nodes and why; FileError;
/// FormatError if the file is damaged; ShapeError if the input leaves extents open that options.input does not give.
/// Values in other files are refused, and none of a file's texts is used as a path.
[[nodiscard]] Conversion read_onnx(std::string const& path, OnnxOptions const& options = {});

/// Writes a network as an ONNX model of opset 21, atomically and always as the same bytes. The first axis of each input
/// and output is "batch", behind which a sample has its own. Inputs and outputs have the names of the config, nodes and
/// the values that they compute those of layers, and constants those of weights. An input that only selects, as words
/// do for an Embedding, is of int64, and everything else of float32. Layers are as in inference; losses, statistics,
/// and inputs that only these read are left out, and so are the transforms of samples. The metadata are those of the
/// model, and the names of classes the text {"0": "cat", "1": "dog"} of its key "names". `input` is the shape of one
/// sample, if the config declares none, or sequences of another length.
///
/// Throws UnsupportedError, which lists all layers that ONNX's operators cannot express, with why, or if the weights
/// have more than 2 GiB, or if the library was built without protobuf; DataError for a weight that is not finite;
/// FormatError for weights that do not fit the config; what Layer::from_config throws for a wrong config; and
/// FileError.
void write_onnx(std::string const& path, persist::Model const& model, std::optional<Shape> const& input = {});

/// A layer that write_onnx knows, by its name in files, and the operators that it becomes.
struct OnnxLayer {
  std::string name, operators;
};
/// All of them, by name.
[[nodiscard]] std::vector<OnnxLayer> onnx_layers();

/// An operator that read_onnx knows, and the layers that it becomes, by their names in files.
struct OnnxOperator {
  std::string name, layers;
};
/// All of them, by name.
[[nodiscard]] std::vector<OnnxOperator> onnx_operators();

}  // namespace coldpress::convert
