// Composes the alias or the function of a network from its layers, as chains, calls and variables.
#include "cpp_network.hpp"

#include "cpp_layers.hpp"
#include "cpp_literals.hpp"

#include <algorithm>
#include <map>

namespace coldpress::dynamic {
namespace {

constexpr std::size_t width = 120;         // of a line
constexpr std::size_t most_in_type = 32;   // layers in a Sequential: compilers limit how deep a type may be nested
constexpr std::size_t most_in_chain = 16;  // layers in a statement

/// A statement's expression: a value, and what is applied to it.
struct Chain {
  struct Link {
    std::string text, note;
  };
  std::string head, note = {};
  std::vector<Link> links = {};
  bool head_is_sum = false;  // and needs parentheses if anything follows

  /// After `begin`, on one line or with a line for each layer.
  std::string statement(std::string const& begin) const {
    std::string const first = head_is_sum && !links.empty() ? "(" + head + ")" : head;
    std::string one_line = "  " + begin + first, lines = one_line;
    bool noted = false;
    for (std::size_t i = 0; i < links.size(); ++i) {
      auto const& [text, about] = links[i];
      one_line += " | " + text;
      lines += "\n      | " + text + (i + 1 == links.size() ? ";" : "") + (about.empty() ? "" : "  // " + about);
      noted = noted || !about.empty();
    }
    return (note.empty() ? "" : "  // " + note + "\n") +
           (!noted && one_line.size() < width && one_line.find('\n') == std::string::npos
                ? one_line + ";"
                : lines + (links.empty() ? ";" : "")) +
           "\n";
  }
};

class Writer {
 public:
  Writer(LayerConfig const& config, std::optional<Shape> input, CppStyle style)
      : style_(style), all_(config, input, style.training), names_(style.qualified) {
    for (int const node : all_.layers()) {
      if (all_.is_tied(node)) tied_.push_back(all_.shares_with(node));
      has_source_ = has_source_ || all_.node(node).input_count() == 0;
    }
  }

  CppNetwork network() {
    CppNetwork result;
    if (is_sequence()) {
      result.type = names_("Sequential") + "<\n    ";
      for (int const node : all_.layers()) {
        if (all_.has_long_name(node)) result.type += "// " + note_on(node) + "\n    ";
        result.type += in_type(node) + (node == all_.layers().back() ? ">" : ",\n    ");
      }
    } else {
      result.function = function();
      result.type = names_("Graph") + "<network>";
    }
    for (int const input : all_.inputs()) result.in.push_back(all_.node(input).shape);
    for (int const output : all_.graph().outputs) result.out.push_back(all_.node(output).shape);
    for (Shape const& shape : result.in)
      result.inputs += (result.inputs.empty() ? "" : ", ") + names_("Shape") + cpp_literal(shape);
    if (result.in.size() != 1) result.inputs = names_("Inputs") + "{" + result.inputs + "}";
    count_weights(result);
    result.using_declaration = names_.using_declaration();
    return result;
  }

 private:
  bool is_sequence() const {
    auto const& layers = all_.layers();
    if (layers.empty() || layers.size() > most_in_type || all_.inputs().size() != 1) return false;
    if (all_.graph().outputs != std::vector{layers.back()}) return false;
    int previous = all_.inputs()[0];
    for (int const node : layers) {
      bool const follows = all_.is_plain(node) && all_.node(node).inputs[0] == previous;
      if (!follows || all_.readers(previous) != 1 || all_.is_shared(node) || all_.is_tied(node)) return false;
      previous = node;
    }
    return true;
  }
  std::string literal(int node) { return cpp_literal(all_.layer(node), style_.training, names_); }
  std::string in_type(int node) {
    std::string const layer = literal(node), &name = all_.given_name(node);
    return name.empty() ? layer : names_("Named") + "<" + cpp_quoted(name) + ", " + layer + ">{}";
  }
  /// The name of a layer for which a type has no room, as a comment in plain characters.
  std::string note_on(int node) const { return all_.has_long_name(node) ? cpp_quoted(all_.name(node)) : std::string{}; }

  std::string function() {
    std::string text = "inline constexpr auto network = " + names_("graph") + "([](", separator;
    for (int const input : all_.inputs()) {
      text += separator + "auto";
      if (all_.readers(input) > 0 || (has_source_ && values_.empty()))
        text += " " + (values_[input] = variables_.add(all_.name(input), "x"));
      separator = ", ";
    }
    text += ") {\n";
    auto const& layers = all_.layers();
    for (std::size_t i = 0; i < layers.size();) {
      Chain chain = head(layers[i]);
      int last = layers[i++];
      while (i < layers.size() && continues(last, layers[i]) && chain.links.size() < most_in_chain) {
        add(chain, last = layers[i++]);
      }
      bool const returned = i == layers.size() && all_.graph().outputs == std::vector{last} && all_.readers(last) == 1;
      if (returned) return text + chain.statement("return ") + "});\n";
      if (all_.readers(last) == 0) {
        text += chain.statement("");
      } else {
        std::string const variable = variables_.add(all_.name(last), all_.kind(last));
        text += chain.statement("auto const " + variable + " = ");
        values_[last] = variable;
      }
    }
    separator.clear();
    std::string results;
    for (int const output : all_.graph().outputs) results += separator + values_[output], separator = ", ";
    if (all_.graph().outputs.size() > 1) results = names_("outputs") + "(" + results + ")";
    return text + "  return " + results + ";\n});\n";
  }
  /// Whether `next` reads the value of the layer before it, and nothing else does.
  bool continues(int before, int next) const {
    return all_.is_plain(next) && all_.node(next).inputs[0] == before && all_.readers(before) == 1 &&
           std::ranges::find(tied_, before) == tied_.end() && !all_.is_tied(next);
  }
  Chain head(int node) {
    Node const& n = all_.node(node);
    Chain chain;
    if (all_.is_plain(node)) {
      chain.head = values_[n.inputs[0]];
      add(chain, node);
      return chain;
    }
    chain.note = note_on(node);
    if (n.input_count() == 0) {
      chain.head = "source(" + literal(node) + ", " + values_.begin()->second + ")";
    } else if (char const* const sign = sign_of(node)) {
      chain.head = values_[n.inputs[0]] + sign + values_[n.inputs[1]], chain.head_is_sum = true;
    } else if (auto const* const concat = std::get_if<Concat>(&all_.layer(node))) {
      if (concat->axis != 0) chain.head = names_("along") + "{" + std::to_string(concat->axis) + "}, ";
      chain.head = "concat(" + chain.head + operands(node) + ")";
    } else {
      std::string const layer = literal(node), values = operands(node);
      chain.head =
          "apply(" + layer + (layer.size() + values.size() > width - 40 ? ",\n          " : ", ") + values + ")";
    }
    if (std::string const& name = all_.given_name(node); !name.empty()) {
      if (chain.head_is_sum) chain.head = "(" + chain.head + ")", chain.head_is_sum = false;
      chain.head += " | " + names_("name") + "(" + cpp_quoted(name) + ")";
    }
    return chain;
  }
  std::string operands(int node) {
    std::string text;
    Node const& n = all_.node(node);
    for (int k = 0; k < n.input_count(); ++k) text += (k > 0 ? ", " : "") + values_[n.inputs[k]];
    return text;
  }
  /// The operator for an elementwise operation on two values, of equal shapes as all that configs have.
  char const* sign_of(int node) const {
    if (all_.node(node).input_count() != 2) return nullptr;
    GraphLayer const& layer = all_.layer(node);
    return std::holds_alternative<Add>(layer)        ? " + "
           : std::holds_alternative<Subtract>(layer) ? " - "
           : std::holds_alternative<Multiply>(layer) ? " * "
           : std::holds_alternative<Divide>(layer)   ? " / "
                                                     : nullptr;
  }
  void add(Chain& chain, int node) {
    std::string text;
    if (all_.is_tied(node)) {
      text = names_("tied") + "(" + values_[all_.shares_with(node)] + tied_options(node) + ")";
    } else if (all_.is_shared(node)) {
      text = names_("shared") + "(" + cpp_quoted(all_.name(all_.shares_with(node))) + ", " + literal(node) + ")";
    } else {
      text = literal(node);
    }
    if (std::string const& name = all_.given_name(node); !name.empty())
      text += " | " + names_("name") + "(" + cpp_quoted(name) + ")";
    chain.links.push_back({text, note_on(node)});
  }
  std::string tied_options(int node) {
    TiedLinear options = std::get<TiedLinear>(all_.layer(node));
    options.output_size = TiedLinear{}.output_size;  // follows from the other layer
    if (!style_.training || options == TiedLinear{}) return {};
    return ", " + cpp_literal(options, true, names_);
  }
  void count_weights(CppNetwork& result) const {
    Graph const& graph = all_.graph();
    std::vector<int> number(graph.parameters.size(), -1);  // of a weight among those of the config, until it is listed
    std::vector<int> const owners = graph.owners();
    for (std::size_t i = 0; i < owners.size(); ++i) number[static_cast<std::size_t>(owners[i])] = static_cast<int>(i);
    for (int const node : all_.layers()) {
      Node::Kind const kind = all_.node(node).kind;
      result.layers += kind != Node::Kind::loss && kind != Node::Kind::statistic;
      auto const at = static_cast<std::size_t>(node);
      for (int p = graph.first_parameter[at]; p < graph.first_parameter[at + 1]; ++p) {
        auto const owner = static_cast<std::size_t>(graph.owner[static_cast<std::size_t>(p)]);
        if (number[owner] < 0) continue;
        result.weights.push_back(std::exchange(number[owner], -1));
        result.parameters += graph.parameters[owner].shape.size();
      }
    }
  }

  CppStyle style_;
  CppLayers all_;
  LibraryNames names_;
  CppVariables variables_;
  std::vector<int> tied_;              // the layers whose matrix others have transposed
  bool has_source_ = false;            // a layer without inputs is made with a value of its network
  std::map<int, std::string> values_;  // the variables of nodes
};

}  // namespace

CppNetwork cpp_network(LayerConfig const& config, std::optional<Shape> input, CppStyle style) {
  return Writer{config, input, style}.network();
}

}  // namespace coldpress::dynamic
