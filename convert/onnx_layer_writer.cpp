// Adds nodes, constants, inputs and outputs to the protobuf message of a model, each under a name of its own.
#include "onnx_layer_writer.hpp"

#include <coldpress/core/to_string.hpp>
#include <coldpress/persist/model.hpp>

#include "onnx_names.hpp"
#include "protobuf.hpp"

#include <algorithm>
#include <bit>

namespace coldpress::convert::onnx_out {
namespace {

namespace proto = onnx::proto;
using persist::printable;

enum ElementType { float32 = 1, int64 = 7 };
static_assert(std::endian::native == std::endian::little, "the numbers of a file are copied as they are");

void set(proto::Attribute& to, Attribute const& from) {
  enum Kind { f = 1, i = 2, s = 3, ints = 7, strings = 8 };
  to.set_name(std::string{from.name});
  if (auto const* const integer = std::get_if<Index>(&from.value)) {
    to.set_type(i), to.set_i(*integer);
  } else if (auto const* const number = std::get_if<float>(&from.value)) {
    to.set_type(f), to.set_f(*number);
  } else if (auto const* const text = std::get_if<std::string_view>(&from.value)) {
    to.set_type(s), to.set_s(std::string{*text});
  } else if (auto const* const integers = std::get_if<Extents>(&from.value)) {
    to.set_type(ints);
    for (Index const each : *integers) to.add_ints(each);
  } else {
    to.set_type(strings);
    for (std::string_view const each : std::get<std::vector<std::string_view>>(from.value))
      to.add_strings(std::string{each});
  }
}

void describe(proto::ValueInfo& value, Name const& name, Shape const& sample, ElementType type) {
  value.set_name(name);
  auto& tensor = *value.mutable_type()->mutable_tensor_type();
  tensor.set_elem_type(type);
  tensor.mutable_shape()->add_dim()->set_dim_param("batch");
  for (Index const extent : extents_of(sample)) tensor.mutable_shape()->add_dim()->set_dim_value(extent);
}

}  // namespace

ModelWriter::ModelWriter(std::string const& name) {
  model_.set_ir_version(ir_version);
  model_.set_producer_name(std::string{onnx::own_producer});
  model_.add_opset_import()->set_version(opset);
  model_.mutable_opset_import(0)->set_domain("");
  model_.mutable_graph()->set_name(name.empty() ? "network" : printable(name));
}

std::string ModelWriter::unique(std::string const& name, Taken& taken) {
  std::string const shown = printable(name);
  std::string all = shown;
  int& last = taken.try_emplace(shown, 0).first->second;
  if (++last == 1) return all;
  do {
    all = shown + "_" + std::to_string(last);
  } while (!taken.try_emplace(all, 1).second && ++last);
  return all;
}

void ModelWriter::add_entry(persist::Entry const& entry) {
  auto& added = *model_.add_metadata_props();
  added.set_key(entry.key), added.set_value(entry.value);
}
void ModelWriter::add_input(Name const& name, Shape const& sample, bool whole_numbers) {
  describe(*model_.mutable_graph()->add_input(), name, sample, whole_numbers ? int64 : float32);
}
void ModelWriter::add_output(Name const& name, Shape const& sample) {
  describe(*model_.mutable_graph()->add_output(), name, sample, float32);
}

void ModelWriter::add_node(std::string const& name, std::string_view op, std::vector<Name> const& inputs,
                           std::vector<Name> const& outputs, Attributes const& attributes) {
  auto& node = *model_.mutable_graph()->add_node();
  node.set_name(name);
  node.set_op_type(std::string{op});
  for (Name const& input : inputs) node.add_input(input);
  for (Name const& output : outputs) node.add_output(output);
  for (Attribute const& attribute : attributes) set(*node.add_attribute(), attribute);
}
proto::Node* ModelWriter::last_node() {
  auto& nodes = *model_.mutable_graph()->mutable_node();
  return nodes.Mutable(nodes.size() - 1);
}

Name ModelWriter::add_constant(std::string const& name, Extents const& extents, std::span<float const> values) {
  return add_constant(name, extents, float32, std::as_bytes(values));
}
Name ModelWriter::add_constant(std::string const& name, Extents const& extents, std::span<Index const> values) {
  return add_constant(name, extents, int64, std::as_bytes(values));
}
Name ModelWriter::add_constant(std::string const& name, Extents const& extents, int type,
                               std::span<std::byte const> bytes) {
  size_ += bytes.size();
  if (size_ > protobuf::max_file)
    throw UnsupportedError{"its weights have more than 2 GiB, which one file of ONNX cannot hold"};
  auto& tensor = *model_.mutable_graph()->add_initializer();
  tensor.set_name(unique(name));
  tensor.set_data_type(type);
  for (Index const extent : extents) tensor.add_dims(extent);
  tensor.set_raw_data(bytes.data(), bytes.size());
  return tensor.name();
}

std::vector<std::byte> ModelWriter::bytes() const {
  std::size_t const size = model_.ByteSizeLong();
  if (size > protobuf::max_file)
    throw UnsupportedError{"its model has more than 2 GiB, which one file of ONNX cannot hold"};
  std::vector<std::byte> all(size);
  model_.SerializeToArray(all.data(), static_cast<int>(size));
  return all;
}

Name LayerWriter::integers(std::size_t k, Name const& shaped) {
  return layer_.integers[k].empty() ? add("Cast", {shaped}, {{"to", Index{int64}}}) : shaped;
}

Name LayerWriter::add(std::string_view op, std::vector<Name> const& inputs, Attributes const& attributes) {
  return add_several(op, inputs, attributes, 1)[0];
}
std::vector<Name> LayerWriter::add_several(std::string_view op, std::vector<Name> const& inputs,
                                           Attributes const& attributes, std::size_t outputs) {
  std::string const name = layer_.name + "/" + std::string{op};
  std::vector<Name> names;
  for (std::size_t i = 0; i < outputs; ++i) names.push_back(model_.unique(name));
  model_.add_node(model_.unique_node(name), op, inputs, names, attributes);
  for (Name const& made : names) made_.emplace_back(made, model_.last_node());
  return names;
}

void LayerWriter::expect(Shape const& constant) {
  constexpr auto most = static_cast<Index>(protobuf::max_file / sizeof(Index));
  if (constant.size() > most)
    refuse("it needs a constant of " + to_string(constant) + " numbers, and a file has at most 2 GiB");
}
Name LayerWriter::number(float value, std::string const& what) { return numbers({&value, 1}, {}, what); }
Name LayerWriter::numbers(std::span<float const> values, Extents const& extents, std::string const& what) {
  return model_.add_constant(constant_name(what), extents, values);
}
Name LayerWriter::indices(Extents const& values, std::string const& what) {
  return model_.add_constant(constant_name(what), {static_cast<Index>(values.size())}, std::span{values});
}
Name LayerWriter::index(Index value, std::string const& what) {
  return model_.add_constant(constant_name(what), {}, std::span<Index const>{&value, 1});
}

Name LayerWriter::weight(std::size_t k, Extents const& extents) {
  SharedWeight const& weight = weight_of(k);
  Extents const all = extents.empty() ? extents_of(weight.shape) : extents;
  std::string layout;
  for (Index const extent : all) layout += std::to_string(extent) + " ";
  Name& name = written_[{weight.number, layout}];
  if (name.empty()) name = model_.add_constant(weight.name, all, weight.values);
  return name;
}
Name LayerWriter::transposed_weight(std::size_t k) {
  SharedWeight const& weight = weight_of(k);
  Index const rows = weight.shape[0], columns = weight.shape[1];
  Name& name = written_[{weight.number, to_string(weight.shape) + " transposed"}];
  if (!name.empty()) return name;
  std::vector<float> turned(weight.values.size());
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < columns; ++j)
      turned[static_cast<std::size_t>(j * rows + i)] = weight.values[static_cast<std::size_t>(i * columns + j)];
  }
  return name = model_.add_constant(weight.name, {columns, rows}, std::span<float const>{turned});
}

Name LayerWriter::reshape(Name const& x, Extents const& sample) {
  Extents shape{0};  // as many samples as there are
  shape.insert(shape.end(), sample.begin(), sample.end());
  return add("Reshape", {x, indices(shape, "shape")});
}
Name LayerWriter::reshape(Name const& x, Shape const& sample) { return reshape(x, extents_of(sample)); }
Name LayerWriter::exchange(Name const& x, Index a, Index b) {
  if (a == b) return x;
  Extents order;
  for (int i = 0; i <= rank(); ++i) order.push_back(i);
  std::swap(order[static_cast<std::size_t>(a)], order[static_cast<std::size_t>(b)]);
  return transpose(x, order);
}
Name LayerWriter::slice(Name const& x, Index axis, Index begin, Index end) {
  return add("Slice", {x, indices({begin}, "begin"), indices({end}, "end"), indices({axis}, "axis")});
}

void LayerWriter::finish(Name const& result, Name const& name) {
  auto made = std::ranges::find(made_, result, &std::pair<Name, proto::Node*>::first);
  if (made == made_.end()) {  // an input, or a constant
    add("Identity", {result});
    made = std::prev(made_.end());
  }
  proto::Node& node = *made->second;
  for (std::string& output : *node.mutable_output()) {
    if (output == made->first) output = name;
  }
  node.set_name(model_.unique_node(layer_.name));
}

}  // namespace coldpress::convert::onnx_out
