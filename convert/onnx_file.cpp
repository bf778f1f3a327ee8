// ONNX's binary files, with all counts and sizes checked before memory is taken.
#include <coldpress/core/error.hpp>
#include <coldpress/data/atomic_file.hpp>
#include <coldpress/persist/model.hpp>

#include "onnx.pb.h"
#include "onnx_graph.hpp"
#include "onnx_values.hpp"
#include "protobuf.hpp"
#include "weights.hpp"

#include <algorithm>
#include <utility>

namespace coldpress::convert::onnx {
namespace {

using persist::printable;
using protobuf::Bytes, protobuf::for_each_part;

constexpr char const* kind_of_file = "ONNX model";
constexpr int max_parts = 1 << 18, max_depth = 16;
constexpr Index first_opset = 7;

/// Counts what becomes an object when a model is parsed, so that a file of many tiny parts cannot fill the memory.
class Parts {
 public:
  void count_model(Bytes model) {
    each(model, [&](int field, Bytes part) {
      if (field == proto::Model::kGraphFieldNumber) count_graph(part);
      if (field == proto::Model::kOpsetImportFieldNumber || field == proto::Model::kMetadataPropsFieldNumber) add();
    });
  }

 private:
  template <class F>
  void each(Bytes message, F f) {
    protobuf::require_message(for_each_part(message, f), kind_of_file);
  }
  void add() {
    if (++count_ > max_parts) {
      throw FormatError{"has more than " + std::to_string(max_parts) +
                        " nodes, attributes, constants, inputs, names of values and entries"};
    }
  }
  void count_graph(Bytes graph) {
    each(graph, [&](int field, Bytes part) {
      if (field == proto::Graph::kNodeFieldNumber) count_node(part);
      if (field == proto::Graph::kInitializerFieldNumber) count_tensor(part);
      if (field == proto::Graph::kInputFieldNumber || field == proto::Graph::kOutputFieldNumber) count_value(part);
    });
  }
  void count_node(Bytes node) {
    add();
    each(node, [&](int field, Bytes part) {
      if (field == proto::Node::kInputFieldNumber || field == proto::Node::kOutputFieldNumber) add();
      if (field != proto::Node::kAttributeFieldNumber) return;
      add();
      each(part, [&](int inner, Bytes value) {
        if (inner == proto::Attribute::kTFieldNumber) count_tensor(value);
        if (inner == proto::Attribute::kStringsFieldNumber) add();
      });
    });
  }
  void count_tensor(Bytes tensor) {
    add();
    each(tensor, [&](int field, Bytes) {
      if (field == proto::Tensor::kExternalDataFieldNumber) add();
    });
  }
  void count_value(Bytes value) {
    add();
    each(value, [&](int field, Bytes type) {
      if (field != proto::ValueInfo::kTypeFieldNumber) return;
      each(type, [&](int, Bytes tensor) {
        each(tensor, [&](int, Bytes shape) { each(shape, [&](int, Bytes) { add(); }); });
      });
    });
  }
  int count_ = 0;
};

template <class Strings>
std::vector<std::string> strings(Strings const& all) {
  return {all.begin(), all.end()};
}

Attribute attribute_of(proto::Attribute& message) {
  enum Kind { f = 1, i = 2, s = 3, t = 4, floats = 6, ints = 7, texts = 8 };
  switch (message.type()) {
    case f:
      return message.f();
    case i:
      return Index{message.i()};
    case s:
      return std::move(*message.mutable_s());
    case t:
      return std::make_shared<Tensor const>(tensor_of(*message.mutable_t()));
    case floats:
      return std::vector<float>{message.floats().begin(), message.floats().end()};
    case ints:
      return std::vector<Index>{message.ints().begin(), message.ints().end()};
    case texts:
      return strings(message.strings());
    default:
      return Unreadable{};
  }
}

Node node_of(proto::Node& message) {
  Node node{.name = message.name(),
            .op = message.op_type(),
            .domain = message.domain() == "ai.onnx" ? "" : message.domain(),
            .inputs = strings(message.input()),
            .outputs = strings(message.output())};
  for (proto::Attribute& attribute : *message.mutable_attribute()) {
    with_context([&] { node.attributes.insert_or_assign(attribute.name(), attribute_of(attribute)); },
                 [&](Error& error) {
                   error.in_layer(printable(node.name.empty() ? node.op : node.name));
                   error.in_field("attribute '" + printable(attribute.name()) + "'");
                 });
  }
  proto::Node{}.Swap(&message);  // does not hold the names twice
  return node;
}

Input input_of(proto::ValueInfo const& message) {
  Input input{.name = message.name()};
  if (!message.type().has_tensor_type()) return input;
  auto const& tensor = message.type().tensor_type();
  input.type = static_cast<Type>(tensor.elem_type());
  if (!tensor.has_shape()) return input;
  auto& shape = input.shape.emplace();
  for (proto::Dimension const& dim : tensor.shape().dim())
    shape.push_back({dim.has_dim_value() ? Index{dim.dim_value()} : -1, dim.dim_param()});
  return input;
}

Index opset_of(proto::Model const& model) {
  Index opset = 0;
  for (proto::OperatorSet const& set : model.opset_import()) {
    if (set.domain().empty() || set.domain() == "ai.onnx") opset = set.version();
  }
  if (opset < first_opset) {
    throw UnsupportedError{"has version " + std::to_string(opset) + " of ONNX's operators, and those from " +
                           std::to_string(first_opset) + " on are read"};
  }
  return opset;
}

Graph graph_of(proto::Model& model) {
  if (model.graph().output_size() == 0) throw FormatError{"is no ONNX model, or has no outputs"};
  Graph graph{.name = model.graph().name(), .producer = model.producer_name(), .opset = opset_of(model)};
  for (proto::Tensor& tensor : *model.mutable_graph()->mutable_initializer()) {
    std::string const name = tensor.name();
    with_context([&] { graph.constants.insert_or_assign(name, std::make_shared<Tensor const>(tensor_of(tensor))); },
                 [&](Error& error) { error.in_field("initializer '" + printable(name) + "'"); });
  }
  graph.nodes.reserve(static_cast<std::size_t>(model.graph().node_size()));
  for (proto::Node& node : *model.mutable_graph()->mutable_node()) graph.nodes.push_back(node_of(node));
  for (proto::ValueInfo const& input : model.graph().input()) {
    if (!graph.constants.contains(input.name())) graph.inputs.push_back(input_of(input));
  }
  for (proto::ValueInfo const& output : model.graph().output()) graph.outputs.push_back(output.name());
  for (proto::Entry const& entry : model.metadata_props()) graph.metadata.push_back({entry.key(), entry.value()});
  return graph;
}

proto::Model model_of(std::string const& path) {
  auto const bytes = read_file(path, protobuf::max_file);
  Parts{}.count_model(bytes);
  return protobuf::parsed<proto::Model>(bytes, max_depth, kind_of_file);
}

}  // namespace

Graph read_graph(std::string const& path) {
  proto::Model model = model_of(path);
  Graph graph = graph_of(model);
  sort(graph);
  return graph;
}

}  // namespace coldpress::convert::onnx
