// Prepares the inputs of an ONNX graph, converts its nodes one after another, and collects what has no counterpart.
#include <coldpress/convert/onnx.hpp>

#include <coldpress/core/to_string.hpp>
#include <coldpress/persist/model.hpp>

#include "onnx_metadata.hpp"
#include "onnx_names.hpp"
#include "onnx_operators.hpp"
#include "onnx_patterns.hpp"
#include "other_formats.hpp"
#include "refusal.hpp"
#include "weights.hpp"

#include <algorithm>
#include <cctype>
#include <fstream>

namespace coldpress::convert {
namespace onnx {
namespace {

using persist::printable;

bool names_batch(std::string name) {
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return name.find("batch") != std::string::npos || name == "n";
}

/// The axis of an input that counts samples; -1 for an input without axes.
int samples_axis_of(std::vector<Dimension> const& shape) {
  int open = 0, last_open = 0;
  for (std::size_t a = 0; a < shape.size(); ++a) {
    if (shape[a].extent >= 0) continue;
    if (names_batch(shape[a].name)) return static_cast<int>(a);
    ++open, last_open = static_cast<int>(a);
  }
  if (shape.empty()) return -1;
  return open == 1 && shape[0].extent > 1 ? last_open : 0;
}

/// The axes of the inputs, in which those that are open are filled in.
class Inputs {
 public:
  Inputs(Graph const& graph, OnnxOptions const& options) : options_(options) {
    if (graph.inputs.empty()) throw UnsupportedError{"has no inputs, so that nothing is computed at run time"};
    for (Input const& input : graph.inputs) add(input);
  }
  Index samples() const { return samples_; }
  std::vector<std::vector<Axis>> const& axes() const { return axes_; }

 private:
  void add(Input const& input) {
    std::string const name = "input '" + printable(input.name) + "'";
    if (!input.shape || input.shape->size() > Shape::max_rank)
      throw UnsupportedError{name + " has no shape, or one with more than 8 axes"};
    if (!is_floating(input.type) && (input.type < Type::uint8 || input.type > Type::uint64 || input.type == Type{8}))
      throw UnsupportedError{name + " is no tensor of numbers"};
    std::vector<Dimension> const& shape = *input.shape;
    int const samples_axis = options_.batched ? samples_axis_of(shape) : -1;
    auto const& given = options_.input;
    auto const rank = static_cast<int>(shape.size()) - (samples_axis >= 0);
    bool const uses_given = given && axes_.empty();
    if (uses_given && given->rank() != rank) {
      throw ShapeError{name + " has samples with " + std::to_string(rank) + " axes, and " + to_string(*given) +
                       " is given"};
    }
    bool const turned = options_.steps_first && shape.size() == 3 && samples_axis == 0;
    std::vector<Axis> axes;
    int place = 0;
    for (int a = 0; a < static_cast<int>(shape.size()); ++a) {
      Dimension const& dimension = shape[static_cast<std::size_t>(a)];
      if (a == samples_axis) {
        axes.push_back({1, 1, true});
        Index const samples = std::max<Index>(0, dimension.extent);
        if (samples > max_samples) throw ShapeError{name + " has " + std::to_string(samples) + " samples"};
        if (axes_.empty()) samples_ = samples;
        if (samples != samples_ && samples_ != 0 && samples != 0) {
          throw UnsupportedError{name + " has " + std::to_string(samples) + " samples, and the first input " +
                                 std::to_string(samples_) + "; without an axis of samples it may be read"};
        }
        continue;
      }
      Index extent = dimension.extent;
      if (extent < 0 && bound_.contains(dimension.name)) extent = bound_.at(dimension.name);
      if (uses_given) {
        Index const wanted = (*given)[turned ? 1 - place : place];
        ++place;
        if (extent >= 0 && extent != wanted) refuse_given(name, a, extent, wanted);
        extent = wanted;
      }
      if (extent < 0) {
        throw ShapeError{name + " leaves its axis " + std::to_string(a) + " ('" + printable(dimension.name) +
                         "') open: the shape of one sample must be given"};
      }
      if (extent < 1 || extent > max_values) throw ShapeError{name + " has the extent " + std::to_string(extent)};
      if (dimension.extent < 0 && !dimension.name.empty()) bound_.emplace(dimension.name, extent);
      axes.push_back({extent});
    }
    axes_.push_back(std::move(axes));
  }
  [[noreturn]] static void refuse_given(std::string const& name, int axis, Index extent, Index wanted) {
    throw ShapeError{name + " has the extent " + std::to_string(extent) + " on its axis " + std::to_string(axis) +
                     ", and " + std::to_string(wanted) + " is given"};
  }

  static constexpr Index max_samples = Index{1} << 30;

  OnnxOptions const& options_;
  Index samples_ = 0;
  std::vector<std::vector<Axis>> axes_ = {};
  std::map<std::string, Index> bound_ = {};  // named extents
};

/// Whether a model convolves rows of values with zeros before them alone.
bool has_sequences(Graph const& graph) {
  return std::ranges::any_of(graph.nodes, [](Node const& node) {
    auto const pads = node.op == "Conv" ? node.attributes.find("pads") : node.attributes.end();
    auto const* const both = pads == node.attributes.end() ? nullptr : std::get_if<std::vector<Index>>(&pads->second);
    return both && both->size() == 2 && (*both)[0] > 0 && (*both)[1] == 0;
  });
}

/// How many values the constants that are computed of those in a file may have.
Index room_for_constants(Graph const& graph) {
  Index values = 0;
  for (auto const& [name, constant] : graph.constants) values += constant->size();
  for (Node const& node : graph.nodes) {
    for (auto const& [name, attribute] : node.attributes) {
      if (auto const* const constant = std::get_if<Constant>(&attribute)) values += (*constant)->size();
    }
  }
  return (Index{1} << 24) + 8 * values;
}

/// Converts one node after another.
class Import {
 public:
  Import(Graph const& graph, Inputs const& inputs, bool steps_first, Index& room)
      : graph_(graph),
        steps_first_(steps_first),
        network_(inputs.samples(), steps_first || has_sequences(graph), graph.producer == own_producer, room) {
    for (auto const& [name, constant] : graph.constants) values_.emplace(name, constant);
    for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
      std::string name = valid_name(graph.inputs[i].name);
      while (network_.has(name)) name += "_";
      Value value = made({}, inputs.axes()[i], graph.inputs[i].type);
      value.order = order_outside(value);
      value.sample = {name, shape_of(value.axes, value.order)};
      network_.add_input(name, value.sample.shape);
      values_.insert_or_assign(graph.inputs[i].name, value);
    }
    for (Node const& node : graph.nodes) {
      for (std::size_t i = 0; i < node.inputs.size(); ++i) {
        readers_.insert(node.inputs[i]);
        if (!selects(node, i)) computed_with_.insert(node.inputs[i]);
      }
    }
    readers_.insert(graph.outputs.begin(), graph.outputs.end());
    computed_with_.insert(graph.outputs.begin(), graph.outputs.end());
  }
  dynamic::LayerConfig run() {
    for (Node const& node : graph_.nodes) convert(node);
    refuse(problems_, "operator");
    std::vector<std::pair<std::string, Sample>> outputs;
    std::set<std::string> seen;
    for (std::string const& output : graph_.outputs) {
      auto const found = values_.find(output);
      if (found == values_.end()) throw FormatError{"no node computes its output '" + printable(output) + "'"};
      auto const* const value = std::get_if<Value>(&found->second);
      if (!value) throw UnsupportedError{"its output '" + printable(output) + "' is a constant"};
      network_.begin({.name = output, .op = "Identity", .domain = {}, .inputs = {}, .outputs = {}}, {});
      Sample sample = network_.arranged(*value, order_outside(*value));
      // A value that is also an input or another output is copied, so that this output has a name of its own.
      if (!seen.insert(sample.name).second || network_.is_input(sample.name))
        sample = network_.add("", Power{}, {sample});
      outputs.emplace_back(output, sample);
    }
    return network_.config(graph_.name.empty() ? "network" : valid_name(graph_.name), outputs);
  }
  std::vector<Blob> take_weights() { return network_.take_weights(); }
  /// Finds out what can be known before patterns are looked for. Operators that are in the way do not matter yet.
  Known explore() {
    for (Node const& node : graph_.nodes) convert(node);
    Known known{.samples = network_.samples()};
    for (auto& [name, value] : values_) {
      if (auto const* const constant = std::get_if<Constant>(&value)) known.constants.emplace(name, *constant);
      if (auto const* const computed = std::get_if<Value>(&value)) known.axes.emplace(name, computed->axes);
    }
    return known;
  }

 private:
  /// The order of an input's or an output's axes.
  std::vector<int> order_outside(Value const& value) const {
    bool const sequence = steps_first_ && value.rank() == 3 && value.axis(0).hidden();
    return sequence ? std::vector{2, 1} : natural(value.axes);
  }
  void convert(Node const& node) {
    try {
      if (!node.domain.empty()) refuse("it is not one of ONNX's own operators");
      auto const found = operators().find(node.op);
      if (found == operators().end()) refuse("no layer does it");
      std::vector<Call::Any> inputs;
      std::vector<Constant> constants;
      bool computed = false;
      for (std::string const& input : node.inputs) {
        inputs.emplace_back();
        if (input.empty()) continue;
        auto const value = values_.find(input);
        if (value == values_.end()) return;  // of an operator that is in the way
        inputs.back() = value->second;
        if (auto const* const constant = std::get_if<Constant>(&inputs.back())) constants.push_back(*constant);
        computed = computed || std::holds_alternative<Value>(inputs.back());
      }
      std::vector<bool> used;
      for (std::string const& output : node.outputs) used.push_back(!output.empty() && readers_.contains(output));
      Call call{node, graph_.opset, std::move(inputs), std::move(used), network_};
      call.only_selects = !node.outputs.empty() && !computed_with_.contains(node.outputs[0]);
      network_.begin(node, constants);
      apply(found->second, call, computed);
      for (std::size_t i = 0; i < node.outputs.size(); ++i) {
        if (call.outputs[i].index() == 0 && call.used(i)) refuse("its output " + std::to_string(i) + " is read");
        if (auto const* const constant = std::get_if<Constant>(&call.outputs[i]))
          network_.count_constant((*constant)->size());
        if (call.outputs[i].index() != 0) values_.insert_or_assign(node.outputs[i], std::move(call.outputs[i]));
      }
    } catch (Refusal const& refusal) {
      problems_.add(described(node) + ": " + refusal.reason);
    }
  }
  /// Whether an input of a node selects values, or counts steps, which the layer does by a float, too.
  static bool selects(Node const& node, std::size_t input) {
    bool const first = node.op == "OneHot" || node.op == "Where", second = node.op == "Gather" || node.op == "GatherND";
    bool const fifth = node.op == "LSTM" || node.op == "GRU" || node.op == "RNN";
    return (first && input == 0) || (second && input == 1) || (fifth && input == 4);
  }
  static void apply(Operator const& row, Call& call, bool computed) {
    if (call.node.outputs.empty()) refuse("it has no outputs");
    if (!computed && row.fold) return call.set(row.fold(call));
    if (!row.convert)
      refuse(computed ? "it is computed at run time, and only constants are computed here" : "it has no inputs");
    if (!computed && call.size() == 0) refuse("it has no inputs");
    row.convert(call);
  }

  Graph const& graph_;
  bool steps_first_;
  Network network_;
  std::map<std::string, Call::Any> values_ = {};
  std::set<std::string> readers_ = {};        // names of values that something reads
  std::set<std::string> computed_with_ = {};  // those that do more than select
  Problems problems_{256};
};

}  // namespace
}  // namespace onnx

bool has_onnx() { return true; }

bool is_onnx(std::string const& path) {
  std::ifstream file{path, std::ios::binary};
  std::string head(3, '\0');
  if (!file.read(head.data(), static_cast<std::streamsize>(head.size()))) return false;
  persist::OtherFormat const* const found = persist::other_format(head, head.size());
  return found && found->name == "onnx";
}

Conversion read_onnx(std::string const& path, OnnxOptions const& options) {
  return with_file(path, [&] {
    onnx::Graph graph = onnx::read_graph(path);
    onnx::Inputs const inputs{graph, options};
    Index room = onnx::room_for_constants(graph);
    // When a pattern has become one operator, the shapes of later values may become known, and with them more patterns.
    for (int round = 0; round < 3; ++round) {
      if (!onnx::rewrite(graph, onnx::Import{graph, inputs, options.steps_first, room}.explore())) break;
    }
    onnx::Import import{graph, inputs, options.steps_first, room};
    auto config = import.run();
    auto entries = std::move(graph.metadata);
    graph = {};
    Conversion conversion = fill(std::move(config), import.take_weights());
    conversion.model.name = conversion.model.config.name;
    onnx::set_entries(conversion.model, std::move(entries));
    return conversion;
  });
}

std::vector<OnnxOperator> onnx_operators() {
  std::vector<OnnxOperator> all;
  for (auto const& [name, row] : onnx::operators()) all.push_back({std::string{name}, std::string{row.layers}});
  return all;
}

}  // namespace coldpress::convert
