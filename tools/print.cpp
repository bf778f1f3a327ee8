// Prints a config as a tree of layers with their fields, and weights with their shapes and ranges.
#include "print.hpp"

#include <coldpress/core/enumerator.hpp>
#include <coldpress/persist/defaults.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace coldpress::command {
namespace {

using dynamic::LayerConfig;

template <class Number>
std::string shortest(Number value) {
  std::array<char, 64> digits;
  return {digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr};
}

std::string enclosed(auto const& list, char const* open, char const* close, auto const& print) {
  std::string text = open;
  for (auto const& element : list) {
    if (&element != &*std::begin(list)) text += ", ";
    text += print(element);
  }
  return text += close;
}

std::string shape(auto const& extents) {
  return enclosed(extents, "{", "}", [](auto extent) { return std::to_string(extent); });
}

std::string value(Index number) { return std::to_string(number); }
std::string value(int number) { return std::to_string(number); }
std::string value(std::uint64_t number) { return std::to_string(number); }
std::string value(float number) { return shortest(number); }
std::string value(double number) { return shortest(number); }
std::string value(bool flag) { return flag ? "true" : "false"; }
std::string value(std::string const& text) { return "\"" + text + "\""; }
/// Files hold Juice's enumerations as words, and those that came later as texts.
template <class Enum>
inline constexpr bool is_word = std::is_same_v<Enum, PoolingMode> || std::is_same_v<Enum, Rounding> ||
                                std::is_same_v<Enum, Regularizer> || std::is_same_v<Enum, data::Per>;
template <Spelled Enum>
std::string value(Enum choice) {
  return is_word<Enum> ? coldpress::to_string(choice) : value(coldpress::to_string(choice));
}
std::string value(Shape const& extents) { return coldpress::to_string(extents); }
template <NumberList List>
std::string value(List const& list) {
  bool const one_for_all = list.count == 1 && List{}.count == 1;
  if (one_for_all) return value(*list.data());
  std::span const numbers{list.data(), static_cast<std::size_t>(list.count)};
  return enclosed(numbers, "{", "}", [](auto number) { return value(number); });
}
std::string value(std::vector<std::uint64_t> const& extents) { return shape(extents); }
std::string value(std::vector<Index> const& numbers) { return shape(numbers); }
std::string value(std::vector<float> const& numbers) {
  if (numbers.size() <= 8) return enclosed(numbers, "{", "}", [](float number) { return value(number); });
  auto const [least, greatest] = std::ranges::minmax(numbers);
  return std::to_string(numbers.size()) + " numbers from " + value(least) + " to " + value(greatest);
}
std::string value(Filler const& filler) {
  using Kind = Filler::Kind;
  if (filler.kind == Kind::constant) return value(filler.a);
  std::string const kind = coldpress::to_string(filler.kind);
  if (filler.kind == Kind::gaussian) return kind + "(" + value(filler.a) + ", " + value(filler.b) + ")";
  return filler.kind == Kind::orthogonal ? kind + "(" + value(filler.a) + ")" : kind;
}
std::string value(MaxNorm const& bound) {
  return "max_norm " + value(bound.norm) + (bound.every == 1 ? "" : " every " + value(bound.every));
}

void add_field(Fields& found, std::string_view name, auto const& field) { found.emplace_back(name, value(field)); }
void add_field(Fields& found, std::string_view name, Weight const& weight) {
  std::string text;
  Weight const own;
  if (weight.filler != own.filler) text += " " + value(weight.filler);
  if (weight.lr_mult != own.lr_mult) text += " lr_mult " + value(weight.lr_mult);
  if (weight.decay_mult != own.decay_mult) text += " decay_mult " + value(weight.decay_mult);
  if (weight.regularizer != own.regularizer) text += " " + value(weight.regularizer);
  if (weight.max_norm != own.max_norm) text += " " + value(weight.max_norm);
  if (!text.empty()) found.emplace_back(name, text.substr(1));
}

template <class Type>
Fields fields(Type const& type) {
  Fields found;
  for_each_field(type, [&](std::string_view name, auto const& field) { add_field(found, name, field); });
  return found;
}
Fields fields(dynamic::Custom const& custom) {
  Fields found;
  for (auto const& [name, field] : custom.fields) {
    found.emplace_back(name, std::visit([](auto const& any) { return value(any); }, field));
  }
  return found;
}
Fields fields(dynamic::SequentialConfig const& container) {
  Fields found;
  for (auto const& input : container.inputs) found.emplace_back("input " + input.name, value(input.shape));
  if (container.force_backward) found.emplace_back("force_backward", "true");
  return found;
}

/// Adds how a layer is wired, and its weights, if the config says so.
void add_wiring(LayerConfig const& config, Fields& found) {
  auto const add = [&](char const* name, auto const& list, auto const& print) {
    if (!list.empty()) found.emplace_back(name, enclosed(list, "[", "]", print));
  };
  auto const same = [](std::string const& name) { return name; };
  add("inputs", config.inputs, same);
  add("outputs", config.outputs, same);
  add("params", config.params, [](dynamic::WeightConfig const& weight) {
    std::string text = weight.name;
    if (weight.filler) text += " " + value(*weight.filler);
    if (weight.lr_mult) text += " lr_mult " + value(*weight.lr_mult);
    if (weight.decay_mult) text += " decay_mult " + value(*weight.decay_mult);
    if (weight.regularizer != Regularizer::own) text += " " + value(weight.regularizer);
    if (weight.max_norm) text += " " + value(*weight.max_norm);
    if (weight.share_mode == dynamic::DimCheckMode::permissive) text += " permissive";
    return text;
  });
  if (config.propagate_down.empty()) return;
  std::string flags = "[";
  for (bool const down : config.propagate_down) flags += std::string{flags.size() > 1 ? ", " : ""} + value(down);
  found.emplace_back("propagate_down", flags + "]");
}

/// Marks fields with the default that they have when a file omits them, if C++ has a different default.
void mark_defaults(dynamic::LayerType const& layer, Fields& found) {
  Fields const in_file = fields_of(persist::defaults_in_file(layer).layer);
  Fields const in_cpp = std::visit(
      [](auto const& type) -> Fields {
        using Kind = std::remove_cvref_t<decltype(type)>;
        return std::is_same_v<Kind, dynamic::Custom> ? Fields{} : fields(Kind{});
      },
      layer);
  for (auto& field : found) {
    auto const is_field = [&](auto const& one) { return one == field; };
    if (std::ranges::any_of(in_file, is_field) && std::ranges::none_of(in_cpp, is_field))
      field.second += " (Juice's default)";
  }
}

void add_layer(LayerConfig const& config, std::size_t depth, std::string& text) {
  auto found = fields_of(config.layer_type);
  mark_defaults(config.layer_type, found);
  add_wiring(config, found);
  text.append(2 * depth, ' ')
      .append(config.name.empty() ? "(no name)" : config.name)
      .append(": ")
      .append(dynamic::type_name(config.layer_type));
  for (auto const& [name, field] : found)
    text.append(&name == &found[0].first ? "  " : ", ").append(name).append(" ").append(field);
  text += '\n';
  if (auto const* container = std::get_if<dynamic::SequentialConfig>(&config.layer_type)) {
    for (LayerConfig const& layer : container->layers) add_layer(layer, depth + 1, text);
  }
}

std::array<std::string, 5> row(persist::NamedTensor const& tensor) {
  auto const number = [](double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.5g", value);
    return std::string{text};
  };
  auto const [least, greatest] = std::ranges::minmax(tensor.values);
  double squares = 0;
  for (float const value : tensor.values) squares += double{value} * double{value};
  double const rms = std::sqrt(squares / static_cast<double>(tensor.values.size()));
  return {tensor.name, shape(tensor.shape), number(least), number(greatest), number(rms)};
}

}  // namespace

std::string to_string(float value) { return shortest(value); }

Fields fields_of(dynamic::LayerType const& layer) {
  return std::visit([](auto const& type) { return fields(type); }, layer);
}
Fields fields_of(dynamic::AnyOptimizer const& optimizer) {
  return std::visit([](auto const& type) { return fields(type); }, optimizer);
}

void show(std::string_view text, std::FILE* stream, char const* indent) {
  for (std::size_t at = 0; at < text.size();) {
    std::size_t const end = std::min(text.find('\n', at), text.size());
    std::fprintf(stream, "%s%s\n", at > 0 ? indent : "", persist::printable(text.substr(at, end - at)).c_str());
    at = end + 1;
  }
}

void show_skipped(data::Source const& source) {
  constexpr std::size_t shown = 10;
  auto const& sentences = source.description().skipped;
  if (sentences.empty()) return;
  std::string text = "broken samples that were skipped: " + std::to_string(sentences.size()) + "\n";
  for (std::string const& sentence : std::span{sentences}.first(std::min(shown, sentences.size())))
    text += "  " + sentence + "\n";
  show(text + (sentences.size() > shown ? "  ...\n" : ""));
}

std::string section(std::string const& title, std::string const& text) {
  std::string result = "\n" + title + "\n";
  for (std::size_t at = 0; at < text.size();) {
    std::size_t const end = std::min(text.find('\n', at), text.size());
    result.append("  ").append(text, at, end - at).append("\n");
    at = end + 1;
  }
  return result;
}

std::string tree(LayerConfig const& config) {
  std::string text;
  add_layer(config, 0, text);
  return text;
}

std::string table(std::vector<persist::NamedTensor> const& tensors) {
  if (tensors.empty()) return "none\n";
  std::vector rows{std::array<std::string, 5>{"name", "shape", "min", "max", "rms"}};
  for (auto const& tensor : tensors) rows.push_back(row(tensor));
  std::array<std::size_t, 5> width{};
  for (auto const& line : rows)
    for (std::size_t c = 0; c < width.size(); ++c) width[c] = std::max(width[c], line[c].size());
  std::string text;
  for (auto const& line : rows) {
    for (std::size_t c = 0; c < width.size(); ++c) {
      std::string const fill(width[c] - line[c].size(), ' ');
      text.append(c > 0 ? "  " : "")
          .append(c < 2 ? line[c] + fill : fill + line[c]);  // words are left-aligned, numbers right-aligned
    }
    text += '\n';
  }
  return text;
}

std::string list(data::Transforms const& transforms) {
  std::string text;
  for (std::size_t i = 0; i < transforms.size(); ++i) {
    auto const add = [&](auto const& transform) {
      text += std::to_string(i) + ": " + std::string{transform.name};
      char const* before = "  ";
      for_each_field(transform, [&](std::string_view name, auto const& field) {
        if constexpr (requires { field.empty(); }) {
          if (field.empty()) return;
        }
        text.append(before).append(name).append(" ") += value(field);
        before = ", ";
      });
      text += data::is_for_training_alone(transforms[i]) ? "  (for training alone)\n" : "\n";
    };
    std::visit(add, transforms[i]);
  }
  return text;
}

std::size_t count(std::vector<persist::NamedTensor> const& tensors) {
  std::size_t values = 0;
  for (auto const& tensor : tensors) values += tensor.values.size();
  return values;
}

}  // namespace coldpress::command
