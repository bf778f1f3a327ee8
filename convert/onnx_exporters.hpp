// The layers of networks: for each one a row of a table, and the function that writes it as operators of ONNX.
#pragma once

#include <coldpress/layers.hpp>

#include "dynamic/graph.hpp"
#include "onnx_layer_writer.hpp"

namespace coldpress::convert::onnx_out {

/// A row of the table.
struct Exporter {
  std::string_view layer;  // its name
  /// Adds the nodes of the layer, and returns what it computes. Throws Refusal.
  Name (*write)(LayerWriter&, dynamic::GraphLayer const&);
  std::string_view operators;  // what it becomes, for the docs
  bool selects = false;        // whether its last input is numbers that select, which are int64 in ONNX
};

/// The row of layer L, which is written by a function of it.
template <class L, Name (*write)(LayerWriter&, L const&)>
constexpr Exporter exporter(std::string_view operators, bool selects = false) {
  return {L::name, [](LayerWriter& w, dynamic::GraphLayer const& layer) { return write(w, std::get<L>(layer)); },
          operators, selects};
}

std::span<Exporter const> activation_exporters();
std::span<Exporter const> attention_exporters();
std::span<Exporter const> convolution_exporters();
std::span<Exporter const> join_exporters();
std::span<Exporter const> matrix_exporters();
std::span<Exporter const> normalization_exporters();
std::span<Exporter const> pooling_exporters();
std::span<Exporter const> position_exporters();
std::span<Exporter const> recurrent_exporters();
std::span<Exporter const> selection_exporters();
std::span<Exporter const> shape_exporters();

/// The row of a layer; null if there is none.
Exporter const* exporter_of(std::string_view layer);
/// All rows, by name.
std::map<std::string_view, Exporter> const& exporters();

/// A chain of operators for an activation that other layers have, too.
Name gelu(LayerWriter& w, Name const& x, bool approximate);

}  // namespace coldpress::convert::onnx_out
