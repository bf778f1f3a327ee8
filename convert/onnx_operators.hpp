// The operators of ONNX: for each one a row of a table, and the functions that convert it.
#pragma once

#include "onnx_network.hpp"

#include <span>

namespace coldpress::convert::onnx {

/// One node with its inputs, and where its outputs go.
class Call {
 public:
  /// What an input is: left out, a constant, or computed at run time.
  using Any = std::variant<std::monostate, Constant, Value>;

  Call(Node const& call_node, Index call_opset, std::vector<Any> inputs, std::vector<bool> used, Network& call_network)
      : node(call_node),
        opset(call_opset),
        network(call_network),
        outputs(used.size()),
        inputs_(std::move(inputs)),
        used_(std::move(used)) {}

  Node const& node;
  Index const opset;
  Network& network;
  std::vector<Any> outputs;

  std::size_t size() const { return inputs_.size(); }
  bool has(std::size_t i) const { return i < inputs_.size() && inputs_[i].index() != 0; }
  bool is_constant(std::size_t i) const { return has(i) && inputs_[i].index() == 1; }
  bool is_computed(std::size_t i) const { return has(i) && inputs_[i].index() == 2; }
  /// Whether anything reads an output.
  bool used(std::size_t i) const { return i < used_.size() && used_[i]; }
  /// Whether the first output does nothing but select: values from others, or one of two.
  bool only_selects = false;

  /// The constant, or a Refusal that says which input is not one.
  Tensor const& constant(std::size_t i, char const* what) const;
  /// The whole numbers of such a constant.
  std::vector<Index> integers_of(std::size_t i, char const* what) const;
  /// The whole numbers of an input, or of an attribute in older opsets; they may depend on the number of samples.
  std::vector<Int> ints(std::size_t i, char const* attribute) const;
  /// The value that is computed at run time; a constant becomes a layer.
  Value value(std::size_t i) const;

  // Attributes. These throw Refusal if one has another type.
  bool has(std::string_view attribute) const { return node.attributes.contains(attribute); }
  Index integer(std::string_view attribute, Index otherwise) const;
  float number(std::string_view attribute, float otherwise) const;
  std::string text(std::string_view attribute, std::string const& otherwise) const;
  std::vector<Index> integers(std::string_view attribute, std::vector<Index> const& otherwise = {}) const;
  std::vector<float> numbers(std::string_view attribute) const;

  void set(Value value, std::size_t output = 0) { outputs.at(output) = std::move(value); }
  void set(Tensor tensor, std::size_t output = 0) {
    outputs.at(output) = std::make_shared<Tensor const>(std::move(tensor));
  }

 private:
  template <class T>
  T const* find(std::string_view attribute) const;
  std::vector<Any> inputs_;
  std::vector<bool> used_;
};

/// A row of the table.
struct Operator {
  std::string_view name;
  void (*convert)(Call&);       // adds layers; null: the operator is computed only of constants
  Tensor (*fold)(Call const&);  // computes it where all inputs are constants; null: it never is
  std::string_view layers;      // what it becomes, for the docs
};

std::span<Operator const> activation_operators();
std::span<Operator const> arithmetic_operators();
std::span<Operator const> attention_operators();
std::span<Operator const> axis_operators();
std::span<Operator const> constant_operators();
std::span<Operator const> convolution_operators();
std::span<Operator const> gather_operators();
std::span<Operator const> matrix_operators();
std::span<Operator const> normalization_operators();
std::span<Operator const> pooling_operators();
std::span<Operator const> recurrent_operators();
std::span<Operator const> reduction_operators();
std::span<Operator const> reshape_operators();
std::span<Operator const> resize_operators();
std::span<Operator const> shape_operators();
std::span<Operator const> slice_operators();

/// All of them by name.
std::map<std::string_view, Operator> const& operators();

/// An axis of a value with that many axes, from one that may count from the end.
int axis_in(Index axis, int rank);
/// The same value of the model with another type, or with other samples of the same axes and order.
Value with(Value const& like, Sample sample);
/// A value whose samples have the natural order.
Value made(Sample sample, std::vector<Axis> axes, Type type = Type::float32);
/// An input with one number for each of the samples, as {1}. `what` these are, for the Refusal.
Sample numbers_by_sample(Call& call, std::size_t input, std::string const& what);
/// Puts the axes that have one place into an order that lacks them.
void insert_single(std::vector<int>& order, std::vector<Axis> const& axes);
/// Views a value as one with other axes and as many values. It is permuted first only if it must be.
Value viewed(Network& network, Value const& x, std::vector<Axis> const& axes);
/// Axes of the extents of a constant.
std::vector<Axis> axes_of(Tensor const& tensor);

/// How values with these axes are joined element by element: the axes of the result. Throws Refusal.
std::vector<Axis> broadcast(std::vector<Axis> const& a, std::vector<Axis> const& b);
/// A value's samples, repeated to axes and an order.
Sample expanded(Network& network, Value const& x, std::vector<Axis> const& axes, std::vector<int> const& order);
/// Joins two values by a layer with two inputs.
template <class L>
Value joined(Network& network, std::string const& part, L const& layer, Value const& a, Value const& b) {
  std::vector<Axis> const axes = broadcast(a.axes, b.axes);
  std::vector<int> const order = a.axes == axes ? a.order : b.axes == axes ? b.order : natural(axes);
  Sample const sample =
      network.add(part, layer, {expanded(network, a, axes, order), expanded(network, b, axes, order)});
  return {sample, axes, order, a.type};
}

}  // namespace coldpress::convert::onnx
