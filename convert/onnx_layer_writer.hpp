// An ONNX model while it is written, and one layer of a network while it becomes nodes of the model.
#pragma once

#include <coldpress/core/along.hpp>
#include <coldpress/dynamic/executable.hpp>

#include "onnx.pb.h"
#include "refusal.hpp"
#include "weights.hpp"

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace coldpress::convert::onnx_out {

using persist::extents_of;

using Name = std::string;                // of a value in the model: an input, a constant, or the output of a node
using Extents = std::vector<Index>;      // of a value or of a constant in the model
inline constexpr Index opset = 21;       // the first in which GroupNormalization has a number for each channel
inline constexpr Index ir_version = 10;  // the version of the format that came with it

/// An attribute of a node.
struct Attribute {
  std::string_view name;
  std::variant<Index, float, std::string_view, Extents, std::vector<std::string_view>> value;
};
using Attributes = std::vector<Attribute>;

/// The message, in which all names are unique. Values have the samples along their first axis.
class ModelWriter {
 public:
  explicit ModelWriter(std::string const& name);

  void add_entry(persist::Entry const& entry);
  void add_input(Name const& name, Shape const& sample, bool whole_numbers);
  void add_output(Name const& name, Shape const& sample);
  void add_node(std::string const& name, std::string_view op, std::vector<Name> const& inputs,
                std::vector<Name> const& outputs, Attributes const& attributes);
  Name add_constant(std::string const& name, Extents const& extents, std::span<float const> values);
  Name add_constant(std::string const& name, Extents const& extents, std::span<Index const> values);

  /// A name that no value has yet, and one that no node has: this one, or this one with a number.
  Name unique(std::string const& name) { return unique(name, values_); }
  std::string unique_node(std::string const& name) { return unique(name, nodes_); }
  onnx::proto::Node* last_node();

  /// The bytes of the file. Throws UnsupportedError if they are more than a file of protobuf may have.
  [[nodiscard]] std::vector<std::byte> bytes() const;

 private:
  /// The names that are taken, and the last number behind each.
  using Taken = std::map<std::string, int>;
  static std::string unique(std::string const& name, Taken& taken);
  Name add_constant(std::string const& name, Extents const& extents, int type, std::span<std::byte const> bytes);

  onnx::proto::Model model_;
  Taken values_, nodes_;
  std::size_t size_ = 0;  // of all constants, in bytes
};

/// A weight of a layer, which other layers may have, too.
struct SharedWeight {
  int number;        // of the network's weights
  std::string name;  // in files of coldpress
  Shape shape;
  std::span<float const> values;
};

/// The weights that are constants of the model already, by their number and layout.
using WrittenWeights = std::map<std::pair<int, std::string>, Name>;

/// One layer. `add` returns the name of what it computes, so that a layer is written as an expression.
class LayerWriter {
 public:
  struct Layer {
    std::string name;
    std::vector<Name> inputs;
    std::vector<Name> integers;  // of each input the same as whole numbers; empty: the input is floats
    std::vector<Shape> shapes;   // of the inputs' samples
    Shape out;
    std::vector<SharedWeight> weights;
  };
  LayerWriter(ModelWriter& model, WrittenWeights& written, Layer layer)
      : model_(model), written_(written), layer_(std::move(layer)) {}

  std::size_t inputs() const { return layer_.inputs.size(); }
  Name const& x(std::size_t k = 0) const { return layer_.inputs[k]; }
  Shape const& in(std::size_t k = 0) const { return layer_.shapes[k]; }
  std::vector<Shape> const& shapes() const { return layer_.shapes; }
  Shape const& out() const { return layer_.out; }
  int rank() const { return in().rank(); }
  /// Where the model's value has an axis of a sample, which may be counted from the last.
  Index axis(int axis) const { return axis_of(in(), axis) + 1; }
  /// An input of numbers that select: as whole numbers, if there are any.
  Name const& selecting(std::size_t k) const { return layer_.integers[k].empty() ? x(k) : layer_.integers[k]; }
  /// The same values in another shape as whole numbers.
  Name integers(std::size_t k, Name const& shaped);
  /// Says that the layer's output is also this value, of whole numbers.
  void set_integers(Name name) { output_integers_ = std::move(name); }
  Name const& output_integers() const { return output_integers_; }

  Name add(std::string_view op, std::vector<Name> const& inputs, Attributes const& attributes = {});
  std::vector<Name> add_several(std::string_view op, std::vector<Name> const& inputs, Attributes const& attributes,
                                std::size_t outputs);

  /// Throws Refusal if a constant of this shape has no room in a file. To be called before its values are computed.
  static void expect(Shape const& constant);

  /// Constants. `what` tells them from others of the layer.
  Name number(float value, std::string const& what);
  Name numbers(std::span<float const> values, Extents const& extents, std::string const& what);
  Name indices(Extents const& values, std::string const& what);
  Name index(Index value, std::string const& what);  // without axes

  std::size_t weights() const { return layer_.weights.size(); }
  SharedWeight const& weight_of(std::size_t k) const { return layer_.weights[k]; }
  /// Weight k as it is in files of coldpress, or with other extents.
  Name weight(std::size_t k, Extents const& extents = {});
  /// A weight that is a matrix, transposed.
  Name transposed_weight(std::size_t k);

  // What many layers need.
  Name reshape(Name const& x, Shape const& sample);
  Name reshape(Name const& x, Extents const& sample);
  Name transpose(Name const& x, Extents const& order) { return add("Transpose", {x}, {{"perm", order}}); }
  /// x with two axes of the model's value exchanged.
  Name exchange(Name const& x, Index a, Index b);
  /// The sample as one row of values.
  Name row(Name const& x, Shape const& sample) { return sample.rank() == 1 ? x : add("Flatten", {x}, {{"axis", 1}}); }
  Name slice(Name const& x, Index axis, Index begin, Index end);
  Name sigmoid_gated(Name const& x) { return add("Mul", {x, add("Sigmoid", {x})}); }

  /// Gives the value that the layer computes, and the node that computes it, the layer's name.
  void finish(Name const& result, Name const& name);

 private:
  Name constant_name(std::string const& what) const { return layer_.name + "/" + what; }

  ModelWriter& model_;
  WrittenWeights& written_;
  Layer layer_;
  std::vector<std::pair<Name, onnx::proto::Node*>> made_ = {};
  Name output_integers_ = {};
};

}  // namespace coldpress::convert::onnx_out
