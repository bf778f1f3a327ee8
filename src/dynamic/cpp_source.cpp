#include <coldpress/dynamic/cpp_source.hpp>

#include "graph.hpp"

#include <coldpress/typed/sentence.hpp>

#include <array>
#include <charconv>
#include <map>

namespace coldpress::dynamic {
namespace {

/// What the compiler calls an enumerator: "coldpress::RnnType::gru".
template <auto enumerator>
constexpr std::string_view name_of_enumerator() {
  std::string_view text = __PRETTY_FUNCTION__;
  text.remove_prefix(text.find("enumerator = ") + 13);
  return text.substr(0, text.find_first_of(";]"));
}

std::string literal(Index number) { return std::to_string(number); }
std::string literal(int number) { return std::to_string(number); }
std::string literal(std::uint64_t number) { return std::to_string(number) + "u"; }
std::string literal(bool flag) { return flag ? "true" : "false"; }
std::string literal(float value) {
  std::array<char, 32> digits;
  std::string text{digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr};
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text + "f";
}
template <Spelled Enum>
std::string literal(Enum value) {
  return [&]<std::size_t... i>(std::index_sequence<i...>) {
    constexpr std::array names{name_of_enumerator<static_cast<Enum>(i)>()...};
    return std::string{names[static_cast<std::size_t>(value)]};
  }
  (std::make_index_sequence<spellings(Enum{}).size()>{});
}
template <class Numbers>
std::string listed(Numbers const& numbers, std::size_t count) {
  std::string text = "{";
  for (std::size_t i = 0; i < count; ++i) text.append(i > 0 ? ", " : "").append(literal(numbers[i]));
  return text + "}";
}
std::string literal(Shape const& shape) {
  return "coldpress::Shape" + listed(shape.extents, static_cast<std::size_t>(shape.rank()));
}
template <NumberList List>
std::string literal(List const& list) {
  if (list.count == 1 && List{}.count == 1) return literal(*list.data());
  return listed(list.data(), static_cast<std::size_t>(list.count));
}

/// For example coldpress::Linear{.output_size = 10}. Initial values and multipliers are left out: they are for
/// training.
template <class L>
std::string literal_of(L const& layer) {
  std::string text{coldpress::detail::type_text<L>()};
  text += "{";
  L const usual{};
  std::vector<std::string> defaults;
  auto const each = [](L const& of, auto f) {
    for_each_field(of, [&](std::string_view field, auto const& value) {
      if constexpr (!std::is_same_v<decltype(value), Weight const&>) f(field, literal(value));
    });
  };
  each(usual, [&](std::string_view, std::string value) { defaults.push_back(std::move(value)); });
  std::size_t i = 0;
  bool first = true;
  each(layer, [&](std::string_view field, std::string const& value) {
    if (value == defaults[i++]) return;
    text.append(first ? "." : ", .").append(field).append(" = ").append(value);
    first = false;
  });
  return text + "}";
}
[[noreturn]] std::string literal_of(CustomNode const&) {
  throw UnsupportedError{"a layer of the user's own cannot be written as C++: the config does not know its type"};
}

/// A string literal. What is not a plain character is written as its octal number.
std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (char const c : text) {
    if (c == '"' || c == '\\') result += '\\';
    if (c >= ' ' && c <= '~') {
      result += c;
    } else {
      unsigned const byte = static_cast<unsigned char>(c);
      result += '\\';
      for (int const shift : {6, 3, 0}) result += static_cast<char>('0' + (byte >> shift & 7));
    }
  }
  return result + "\"";
}

class Writer {
 public:
  Writer(LayerConfig const& config, std::optional<Shape> input) : graph_(config, input), needed_(graph_.nodes.size()) {
    for (int const output : graph_.outputs) need(output);
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      int const node = static_cast<int>(i);
      if (node < graph_.inputs() || !needed_[i]) continue;
      if (graph_.nodes[i].input_count() == 0) refuse(node, "a layer without inputs cannot be written as a type");
      if (name(node).size() > std::size_t{Name::most})
        refuse(node, "its name has " + std::to_string(name(node).size()) +
                         " characters; names in a type have at most " + std::to_string(Name::most));
      layers_.push_back(node);
      if (has_parameters(node)) ++users_[shares_with(node)];
    }
  }

  CppSource source() {
    CppSource result;
    std::string shapes;
    int inputs = 0;
    for (int i = 0; i < graph_.inputs(); ++i) {
      if (!needed_[at(i)]) continue;
      shapes.append(inputs++ > 0 ? ", " : "").append(literal(graph_.nodes[at(i)].shape));
    }
    result.inputs = inputs == 1 ? shapes : "coldpress::Inputs{" + shapes + "}";
    if (is_sequence()) {
      for (int const node : layers_) {
        std::string layer = layer_of(node);
        if (has_own_name(node)) layer = "coldpress::Named<" + quoted(name(node)) + ", " + layer + ">{}";
        result.type.append(result.type.empty() ? "coldpress::Sequential<\n    " : ",\n    ").append(layer);
      }
      result.type += ">";
    } else {
      result.function = function();
      result.type = "coldpress::Graph<network>";
    }
    result.weights = weights();
    return result;
  }

 private:
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  std::string const& name(int node) const { return graph_.names[at(node)]; }
  [[noreturn]] void refuse(int node, std::string sentence) const {
    UnsupportedError error{std::move(sentence)};
    error.in_layer(name(node));
    throw error;
  }
  void need(int node) {
    std::vector<int> open{node};
    while (!open.empty()) {
      int const i = open.back();
      open.pop_back();
      if (needed_[at(i)]) continue;
      needed_[at(i)] = true;
      for (int k = 0; k < graph_.nodes[at(i)].input_count(); ++k) open.push_back(graph_.nodes[at(i)].inputs[k]);
    }
  }
  /// Whether a node has parameters of an earlier one, and of which.
  int shares_with(int node) const {
    if (!has_parameters(node)) return node;
    return graph_.parameter_node[at(graph_.owner[at(graph_.first_parameter[at(node)])])];
  }
  /// How many parameters, from the first on, a node has of the layer shares_with(node). Throws UnsupportedError for a
  /// sharing that types do not have.
  int shared_parameters(int node) const {
    int const first = graph_.first_parameter[at(node)], count = graph_.first_parameter[at(node) + 1] - first;
    int const other = shares_with(node), its = graph_.first_parameter[at(other)];
    int shared = 0;
    bool in_order = true;
    for (int k = 0; k < count; ++k) {
      int const owner = graph_.owner[at(first + k)];
      if (owner == first + k) continue;
      in_order = in_order && other != node && k == shared && owner == graph_.owner[at(its + k)];
      ++shared;
    }
    bool const tied = std::holds_alternative<TiedLinear>(graph_.layers[at(node)]) &&
                      std::holds_alternative<Linear>(graph_.layers[at(other)]);
    if (in_order && (shared == 0 || shared == (tied ? 1 : count))) return shared;
    refuse(node, "it shares some of its weights, which cannot be written as a type");
  }
  bool is_sequence() const {
    if (layers_.empty() || graph_.outputs.size() != 1 || graph_.outputs[0] != layers_.back()) return false;
    int previous = -1;
    for (int const node : layers_) {
      Node const& n = graph_.nodes[at(node)];
      bool const follows =
          n.input_count() == 1 && (previous < 0 ? n.inputs[0] < graph_.inputs() : n.inputs[0] == previous);
      if (!follows || shared_parameters(node) > 0 || !is_plain(node)) return false;
      previous = node;
    }
    return true;
  }
  bool is_plain(int node) const {
    return std::visit([](auto const& layer) { return FollowsOne<std::remove_cvref_t<decltype(layer)>>; },
                      graph_.layers[at(node)]);
  }
  std::string layer_of(int node) const {
    return with_context(
        [&] { return std::visit([](auto const& layer) { return literal_of(layer); }, graph_.layers[at(node)]); },
        [&](Error& error) { error.in_layer(name(node)); });
  }
  /// Whether the layer's name differs from that which a type gives to layers without one, in their order: linear1,
  /// relu1, linear2, ...
  bool has_own_name(int node) {
    std::string const kind{
        std::visit([](auto const& layer) -> std::string_view { return layer.name; }, graph_.layers[at(node)])};
    int& unnamed = unnamed_[kind];
    if (name(node) != kind + std::to_string(unnamed + 1)) return true;
    ++unnamed;
    return false;
  }
  std::string function() {
    std::string text = "inline constexpr auto network = coldpress::graph([](", separator;
    std::map<int, std::string> values;
    for (int i = 0; i < graph_.inputs(); ++i) {
      if (!needed_[at(i)]) continue;
      values[i] = "input" + std::to_string(i);
      text += separator + "auto " + values[i];
      separator = ", ";
    }
    text += ") {\n";
    for (int const node : layers_) {
      values[node] = "value" + std::to_string(node - graph_.inputs() + 1);
      text += "  auto const " + values[node] + " = ";
      Node const& n = graph_.nodes[at(node)];
      bool const shares = is_shared(node);
      if (is_plain(node)) {
        text += values[n.inputs[0]] + " | ";
        if (int const some = shared_parameters(node);
            some > 0 && some < graph_.first_parameter[at(node) + 1] - graph_.first_parameter[at(node)]) {
          text += "coldpress::tied(" + values[shares_with(node)] + ") | coldpress::name(" + quoted(name(node)) + ");\n";
          continue;
        }
        if (shares) text += "coldpress::shared(" + quoted(name(shares_with(node))) + ", ";
        text += layer_of(node) + (shares ? ")" : "");
      } else {
        if (shares) {
          refuse(node, "a layer with several inputs that shares its weights cannot be written as a type");
        }
        text += "apply(" + layer_of(node);
        for (int k = 0; k < n.input_count(); ++k) text += ", " + values[n.inputs[k]];
        text += ")";
      }
      text += " | coldpress::name(" + quoted(name(node)) + ");\n";
    }
    text += graph_.outputs.size() == 1 ? "  return " : "  return coldpress::outputs(";
    separator.clear();
    for (int const output : graph_.outputs) text += separator + values[output], separator = ", ";
    return text + (graph_.outputs.size() == 1 ? ";\n});\n" : ");\n});\n");
  }
  bool has_parameters(int node) const {
    return graph_.first_parameter[at(node)] != graph_.first_parameter[at(node) + 1];
  }
  /// Whether another layer has this one's parameters.
  bool is_shared(int node) const { return has_parameters(node) && users_.at(shares_with(node)) > 1; }
  std::vector<int> weights() const {
    std::vector<int> kept;
    std::vector<int> const owners = graph_.owners();
    for (std::size_t i = 0; i < owners.size(); ++i) {
      if (needed_[at(graph_.parameter_node[at(owners[i])])]) kept.push_back(static_cast<int>(i));
    }
    return kept;
  }

  Graph graph_;
  std::vector<bool> needed_;
  std::vector<int> layers_;  // the needed nodes that are not inputs
  std::map<int, int> users_;  // how many layers have the parameters of this one
  std::map<std::string, int> unnamed_;  // layers by their type's name
};

}  // namespace

CppSource cpp_source(LayerConfig const& config, std::optional<Shape> input) { return Writer{config, input}.source(); }

}  // namespace coldpress::dynamic
