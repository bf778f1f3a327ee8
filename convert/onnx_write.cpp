// Networks as ONNX models.
#include <coldpress/convert/onnx.hpp>

#include <coldpress/data/atomic_file.hpp>
#include <coldpress/persist/network.hpp>

#include "dynamic/needed.hpp"
#include "onnx_exporters.hpp"
#include "onnx_metadata.hpp"
#include "weights.hpp"

#include <algorithm>

namespace coldpress::convert {
namespace onnx_out {

std::map<std::string_view, Exporter> const& exporters() {
  static auto const all = [] {
    std::map<std::string_view, Exporter> table;
    for (auto const family : {activation_exporters, attention_exporters, convolution_exporters, join_exporters,
                              matrix_exporters, normalization_exporters, pooling_exporters, position_exporters,
                              recurrent_exporters, selection_exporters, shape_exporters}) {
      for (Exporter const& row : family()) table.emplace(row.layer, row);
    }
    return table;
  }();
  return all;
}
Exporter const* exporter_of(std::string_view layer) {
  auto const found = exporters().find(layer);
  return found == exporters().end() ? nullptr : &found->second;
}

namespace {

using dynamic::Graph, dynamic::GraphLayer;

std::size_t at(int i) { return static_cast<std::size_t>(i); }

std::string_view kind_of(GraphLayer const& layer) {
  return std::visit([](auto const& known) -> std::string_view { return known.name; }, layer);
}

/// The same for messages: the name in files, or that of a type of the user's own.
std::string described_kind(GraphLayer const& layer) {
  auto const* const custom = std::get_if<dynamic::CustomNode>(&layer);
  return custom ? persist::printable(custom->layer->custom(false).type) : persist::camel_case(kind_of(layer));
}

/// Writes the nodes on which the outputs of a network depend, one after another.
class Export {
 public:
  Export(persist::Model const& model, std::optional<Shape> const& input)
      : graph_(model.config, persist::input_of(model, input)),
        model_(model.name.empty() ? model.config.name : model.name),
        needed_(needed_nodes(graph_)),
        values_(graph_.nodes.size()),
        integers_(graph_.nodes.size()) {
    take_weights(model);
    name_values(model.config.outputs);
    for (persist::Entry const& entry : onnx::entries_of(model)) model_.add_entry(entry);
  }
  std::vector<std::byte> run() {
    for (int node = 0; node < static_cast<int>(graph_.nodes.size()); ++node) {
      if (!needed_[at(node)]) continue;
      node < graph_.inputs() ? add_input(node) : add_layer(node);
    }
    refuse(problems_, "layer");
    add_outputs();
    return model_.bytes();
  }

 private:
  void take_weights(persist::Model const& model) {
    auto const weights = graph_.weights();
    auto const values = persist::in_order(model, weights);
    weights_.resize(graph_.parameters.size());
    std::vector<int> const owners = graph_.owners();
    for (std::size_t i = 0; i < owners.size(); ++i) {
      std::span<float const> own = values[i];
      persist::check_finite(weights[i], own);
      if (own.empty()) own = zeros_.emplace_back(static_cast<std::size_t>(weights[i].shape.size()));
      weights_[at(owners[i])] = {static_cast<int>(i), weights[i].name, weights[i].shape, own};
    }
    for (std::size_t p = 0; p < weights_.size(); ++p) {
      Shape const shape = graph_.parameters[p].shape;
      weights_[p] = weights_[at(graph_.owner[p])];
      weights_[p].shape = shape;
    }
  }
  /// Inputs and outputs have the names of the config, and other values those of their layers.
  void name_values(std::vector<std::string> const& outputs) {
    for (int i = 0; i < graph_.inputs(); ++i) {
      std::string const& name = graph_.names[at(i)];
      if (needed_[at(i)]) values_[at(i)] = model_.unique(name.empty() ? "input" : name);
    }
    for (std::size_t k = 0; k < graph_.outputs.size(); ++k) {
      int const node = graph_.outputs[k];
      output_names_.push_back(model_.unique(k < outputs.size() ? outputs[k] : graph_.names[at(node)]));
      if (values_[at(node)].empty()) values_[at(node)] = output_names_.back();
    }
    for (std::size_t i = 0; i < values_.size(); ++i) {
      if (needed_[i] && values_[i].empty()) values_[i] = model_.unique(graph_.names[i]);
    }
  }
  void add_input(int node) {
    Name const& name = values_[at(node)];
    bool const selects = only_selects(node);
    if (selects) integers_[at(node)] = name;
    model_.add_input(name, graph_.nodes[at(node)].shape, selects);
  }
  /// Whether a value is nothing but numbers that select.
  bool only_selects(int value) const {
    if (std::ranges::find(graph_.outputs, value) != graph_.outputs.end()) return false;
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      for (int k = 0; needed_[i] && k < graph_.nodes[i].input_count(); ++k) {
        if (graph_.nodes[i].inputs[k] != value) continue;
        Exporter const* const row = exporter_of(kind_of(graph_.layers[i]));
        if (!row || !row->selects || k != graph_.nodes[i].input_count() - 1) return false;
      }
    }
    return true;
  }
  void add_layer(int number) {
    coldpress::Node const& node = graph_.nodes[at(number)];
    GraphLayer const& layer = graph_.layers[at(number)];
    LayerWriter::Layer all{
        .name = graph_.names[at(number)], .inputs = {}, .integers = {}, .shapes = {}, .out = node.shape, .weights = {}};
    for (int k = 0; k < node.input_count(); ++k) {
      all.inputs.push_back(values_[at(node.inputs[k])]);
      all.integers.push_back(integers_[at(node.inputs[k])]);
      all.shapes.push_back(graph_.nodes[at(node.inputs[k])].shape);
    }
    for (int p = graph_.first_parameter[at(number)]; p < graph_.first_parameter[at(number) + 1]; ++p)
      all.weights.push_back(weights_[at(p)]);
    try {
      Exporter const* const row = exporter_of(kind_of(layer));
      if (!row) refuse("no operators of ONNX are known for it");
      LayerWriter writer{model_, written_, std::move(all)};
      writer.finish(row->write(writer, layer), values_[at(number)]);
      integers_[at(number)] = writer.output_integers();
    } catch (Refusal const& refusal) {
      problems_.add(described_kind(layer) + " '" + persist::printable(graph_.names[at(number)]) +
                    "': " + refusal.reason);
    }
  }
  void add_outputs() {
    for (std::size_t k = 0; k < graph_.outputs.size(); ++k) {
      int const node = graph_.outputs[k];
      Name const &name = output_names_[k], &value = values_[at(node)];
      if (name != value) model_.add_node(model_.unique_node(name), "Identity", {value}, {name}, {});
      model_.add_output(name, graph_.nodes[at(node)].shape);
    }
  }

  Graph graph_;
  ModelWriter model_;
  std::vector<bool> needed_;
  std::vector<Name> values_, integers_;  // of each node; integers_: the same as whole numbers, where there are any
  std::vector<Name> output_names_ = {};
  std::vector<SharedWeight> weights_ = {};  // of each parameter
  std::vector<std::vector<float>> zeros_ = {};
  WrittenWeights written_ = {};
  Problems problems_{256};
};

}  // namespace
}  // namespace onnx_out

void write_onnx(std::string const& path, persist::Model const& model, std::optional<Shape> const& input) {
  auto const bytes = onnx_out::Export{model, input}.run();
  with_file(path, [&] { write_atomically(path, bytes); });
}

std::vector<OnnxLayer> onnx_layers() {
  std::vector<OnnxLayer> all;
  for (auto const& [name, row] : onnx_out::exporters())
    all.push_back({persist::camel_case(name), std::string{row.operators}});
  return all;
}

}  // namespace coldpress::convert
