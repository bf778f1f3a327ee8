// Sorts nodes so that each comes after those that it reads, and leaves out what no output needs.
#include "onnx_graph.hpp"

#include <coldpress/core/error.hpp>
#include <coldpress/persist/model.hpp>

#include <algorithm>
#include <utility>

namespace coldpress::convert::onnx {
namespace {

using persist::printable;

/// The places of the nodes that are needed, each after those that it depends on. It needs no recursion, because a chain
/// may have as many nodes as a file.
class Order {
 public:
  explicit Order(Graph const& graph) : graph_(graph), states_(graph.nodes.size()) {
    for (Input const& input : graph.inputs) makers_.insert_or_assign(input.name, given);
    for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
      for (std::string const& output : graph.nodes[n].outputs) {
        if (output.empty()) continue;
        if (!makers_.emplace(output, n).second || graph.constants.contains(output))
          throw FormatError{"the value '" + printable(output) + "' is computed twice"};
      }
    }
    for (std::string const& output : graph.outputs) visit(output);
  }
  std::vector<std::size_t> take() {
    if (as_listed_) std::ranges::sort(order_);
    return std::move(order_);
  }

 private:
  enum class State { fresh, open, done };
  struct Step {
    std::size_t node, next_input;
  };
  static constexpr std::size_t given = static_cast<std::size_t>(-1);

  /// The node that makes a value; `given` for an input or a constant.
  std::size_t maker_of(std::string const& value) const {
    if (value.empty() || graph_.constants.contains(value)) return given;
    auto const found = makers_.find(value);
    if (found == makers_.end()) throw FormatError{"no node computes the value '" + printable(value) + "'"};
    return found->second;
  }
  void open(std::size_t node) {
    if (node == given || states_[node] == State::done) return;
    if (states_[node] == State::open)
      throw FormatError{"the nodes form a cycle, which " + described(graph_.nodes[node]) + " is part of"};
    states_[node] = State::open;
    steps_.push_back({node, 0});
  }
  void visit(std::string const& value) {
    open(maker_of(value));
    while (!steps_.empty()) {
      Node const& node = graph_.nodes[steps_.back().node];
      if (steps_.back().next_input < node.inputs.size()) {
        std::size_t const maker = maker_of(node.inputs[steps_.back().next_input++]);
        as_listed_ = as_listed_ && (maker == given || maker < steps_.back().node);
        open(maker);
      } else {
        states_[steps_.back().node] = State::done;
        order_.push_back(steps_.back().node);
        steps_.pop_back();
      }
    }
  }

  Graph const& graph_;
  std::vector<State> states_;
  std::vector<Step> steps_;
  std::vector<std::size_t> order_;
  bool as_listed_ = true;  // whether that of the file is such an order, as ONNX demands
  std::map<std::string_view, std::size_t> makers_;
};

}  // namespace

std::optional<Index> size_of(std::vector<Index> const& shape) {
  Index places = 1;
  bool none = false;
  for (Index const extent : shape) {
    if (extent < 0 || (extent > 0 && places > max_values / extent)) return {};
    none = none || extent == 0;
    places *= std::max<Index>(extent, 1);
  }
  if (none && places > max_empty) return {};
  return none ? 0 : places;
}

std::string described(Node const& node) {
  std::string const& name = !node.name.empty() || node.outputs.empty() ? node.name : node.outputs[0];
  return printable(node.domain.empty() ? node.op : node.domain + "." + node.op) + " '" + printable(name) + "'";
}

void sort(Graph& graph) {
  auto const order = Order{graph}.take();
  std::vector<Node> nodes;
  nodes.reserve(order.size());
  for (std::size_t const n : order) nodes.push_back(std::move(graph.nodes[n]));
  graph.nodes = std::move(nodes);
}

}  // namespace coldpress::convert::onnx
