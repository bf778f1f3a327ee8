// What a network type in C++ needs to know of each layer of a config.
#pragma once

#include "graph.hpp"

#include <optional>

namespace coldpress::dynamic {

/// The nodes of a graph that become layers of a type, with the names and the sharing that they have there.
class CppLayers {
 public:
  /// `training`: losses, statistics, and values that nothing reads are kept. Throws as cpp_network does.
  CppLayers(LayerConfig const& config, std::optional<Shape> input, bool training);

  Graph const& graph() const { return graph_; }
  std::vector<int> const& layers() const { return layers_; }  // in order, without inputs
  std::vector<int> const& inputs() const { return inputs_; }
  GraphLayer const& layer(int node) const { return at(graph_.layers, node); }
  std::string const& name(int node) const { return at(graph_.names, node); }
  Node const& node(int node) const { return at(graph_.nodes, node); }

  /// The type's name for a layer, such as "linear".
  std::string_view kind(int node) const;
  /// The name that the layer must be given in the type; empty if it needs none.
  std::string const& given_name(int node) const { return at(given_, node); }
  /// Whether the name of the layer should be kept, but is too long.
  bool has_long_name(int node) const;
  /// How often layers and outputs read the value.
  int readers(int node) const { return at(readers_, node); }
  bool is_output(int node) const;
  /// Whether it is a layer with one input, as in x | layer.
  bool is_plain(int node) const;
  /// The layer whose weights this one has; itself if they are its own.
  int shares_with(int node) const;
  /// Whether only the matrix is that of the other layer, as in x | tied(other).
  bool is_tied(int node) const { return shared_parameters(node) == 1 && parameter_count(node) > 1; }
  /// Whether all its weights are those of other layers, too.
  bool is_shared(int node) const { return at(users_, shares_with(node)) > 1 && parameter_count(node) > 0; }

 private:
  template <class List>
  static auto at(List& list, int i) -> decltype(list[std::size_t{}]) {
    return list[static_cast<std::size_t>(i)];
  }
  int parameter_count(int node) const {
    return at(graph_.first_parameter, node + 1) - at(graph_.first_parameter, node);
  }
  int shared_parameters(int node) const;
  bool keeps_name(int node) const;
  bool is_random(int node) const;
  void find_layers();
  void order_in_chains();
  void name_layers();
  void refuse_what_cannot_be_written() const;
  std::string refusal(int node) const;
  void set_weights();

  Graph graph_;
  bool training_;
  std::vector<int> layers_, inputs_;
  std::vector<int> readers_, users_;  // per node; users: how many layers have the parameters of this one
  std::vector<std::string> given_;    // per node
  std::vector<int> unsettled_;        // layers whose fields cannot say all that the config says of their weights
};

}  // namespace coldpress::dynamic
