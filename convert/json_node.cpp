// Parses JSON after limiting its depth and number of values, and checks types and ranges where values are read.
#include "json_node.hpp"

#include <coldpress/data/atomic_file.hpp>
#include <coldpress/persist/model.hpp>

#include <cmath>
#include <limits>

namespace coldpress::convert::json {
namespace {

constexpr int max_depth = 64;
constexpr std::size_t max_parts = std::size_t{1} << 20;   // a model of 10,000 layers of Keras has 800,000
constexpr std::size_t max_values = std::size_t{1} << 22;  // so many weights with all digits are 60 MB
constexpr std::size_t max_file = std::size_t{1} << 26;    // the largest real models have some 2^20 bytes
constexpr std::size_t max_shown = 40;

/// Copies of values and their texts are made by recursion, so that they may not be deep. A list, an object or a text
/// takes up to 65 times the bytes that it has in the file, and a number up to 60 times, so that there may not be too
/// many.
void check_structure(std::string_view text) {
  int depth = 0;
  std::size_t parts = 0, values = 1;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    char const c = text[i];
    if (c == '"') parts += quoted = !quoted;
    if (quoted && c == '\\') ++i;
    if (quoted) continue;
    if (c == '[' || c == '{') ++depth, ++parts;
    if (c == ']' || c == '}') --depth;
    values += c == ',';
    if (depth > max_depth) throw FormatError{"its values are more than " + std::to_string(max_depth) + " deep"};
    if (parts > max_parts)
      throw FormatError{"has more than " + grouped(static_cast<Index>(max_parts)) + " lists, objects and texts"};
    if (values > max_values) throw FormatError{"has more than " + grouped(static_cast<Index>(max_values)) + " values"};
  }
}

}  // namespace

std::string described(Json const& value) {
  if (value.is_object()) return "an object";
  if (value.is_array()) return "a list of " + grouped(static_cast<Index>(value.size()));
  std::string const text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  return text.size() <= max_shown ? persist::printable(text) : persist::printable(text.substr(0, max_shown)) + "...";
}

std::string grouped(Index number) {
  std::string digits = std::to_string(number);
  for (auto place = static_cast<std::ptrdiff_t>(digits.size()) - 3; place > (number < 0 ? 1 : 0); place -= 3)
    digits.insert(static_cast<std::size_t>(place), ",");
  return digits;
}

Json parse_json(std::string_view text) {
  check_structure(text);
  try {
    return Json::parse(text);
  } catch (Json::exception const& error) {
    std::string_view said = error.what();  // "[json.exception.parse_error.101] parse error at line 1, ..."
    if (auto const end = said.find("] "); end != std::string_view::npos) said.remove_prefix(end + 2);
    throw FormatError{"is not JSON: " + persist::printable(said)};
  }
}

Json read_json(std::string const& path) {
  auto const bytes = read_file(path, max_file);
  return parse_json({reinterpret_cast<char const*>(bytes.data()), bytes.size()});
}

std::optional<Node> Node::find(std::string_view key) const {
  if (!is_object()) expected("an object");
  auto const found = value_->find(key);
  if (found == value_->end()) return {};
  return Node{*found, path_.empty() ? std::string{key} : path_ + "." + std::string{key}};
}
std::optional<Node> Node::find_value(std::string_view key) const {
  auto found = find(key);
  if (found && found->is_null()) found.reset();
  return found;
}
Node Node::operator[](std::string_view key) const {
  if (auto found = find(key)) return *std::move(found);
  refuse("has no \"" + std::string{key} + "\"");
}
std::size_t Node::size() const {
  if (!is_list()) expected("a list");
  return value_->size();
}
Node Node::operator[](std::size_t place) const {
  if (place >= size()) expected("a list of at least " + std::to_string(place + 1));
  return {(*value_)[place], path_ + "[" + std::to_string(place) + "]"};
}

Index Node::integer(Index least, Index most) const {
  double const value = value_->is_number() ? value_->get<double>() : std::numeric_limits<double>::quiet_NaN();
  if (!(value >= static_cast<double>(least) && value <= static_cast<double>(most)) || value != std::floor(value))
    expected("a whole number from " + grouped(least) + " to " + grouped(most));
  return static_cast<Index>(value);
}
Index Node::integer(std::string_view key, Index otherwise, Index least, Index most) const {
  auto const found = find_value(key);
  return found ? found->integer(least, most) : otherwise;
}
bool Node::flag() const {
  if (!value_->is_boolean()) expected("true or false");
  return value_->get<bool>();
}
bool Node::flag(std::string_view key, bool otherwise) const {
  auto const found = find_value(key);
  return found ? found->flag() : otherwise;
}
double Node::number() const {
  if (!value_->is_number()) expected("a number");
  return value_->get<double>();
}
float Node::number(std::string_view key, float otherwise) const {
  auto const found = find_value(key);
  if (!found) return otherwise;
  double const value = found->number();
  if (!(std::abs(value) <= static_cast<double>(std::numeric_limits<float>::max())))
    found->expected("a number within the range of a float");
  return static_cast<float>(value);
}
std::string Node::text() const {
  if (!value_->is_string()) expected("a text");
  return value_->get<std::string>();
}

void Node::expected(std::string const& what) const { refuse("got " + described(*value_) + ", expected " + what); }

}  // namespace coldpress::convert::json
