// Splits the options of a data spec at commas outside quotes, and reads their values as numbers, flags and lists.
#include "spec_options.hpp"

#include <coldpress/core/error.hpp>

#include <charconv>
#include <limits>

namespace coldpress::data {
namespace {

/// Takes an element of a list that is in quotes. A quote in it is doubled.
std::string take_quoted(std::string_view& text) {
  std::string element;
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (text[i] != '"') {
      element += text[i];
    } else if (i + 1 < text.size() && text[i + 1] == '"') {
      element += text[i++];
    } else {
      text.remove_prefix(i + 1);
      return element;
    }
  }
  throw ConfigError{"'" + std::string{text} + "' has a quote that does not end; a quote in quotes is doubled"};
}

}  // namespace

SpecValue take_value(std::string_view& text, std::string_view end) {
  std::string_view const all = text;
  std::string const stops = "," + std::string{end};
  SpecValue value;
  bool quoted = false;
  while (true) {
    quoted = text.starts_with('"');
    if (quoted) {
      value.list.push_back(take_quoted(text));
    } else {
      std::string_view const element = text.substr(0, text.find_first_of(stops));
      value.list.emplace_back(element);
      text.remove_prefix(element.size());
    }
    if (!text.empty() && stops.find(text[0]) == std::string::npos)
      throw ConfigError{"'" + std::string{text} + "' comes after a quote's end, where a comma was expected"};
    if (!text.starts_with(',')) break;
    text.remove_prefix(1);
  }
  value.text = value.list.size() == 1 && quoted ? value.list[0] : all.substr(0, all.size() - text.size());
  return value;
}

std::string quoted_for_list(std::string const& element) {
  if (element.find_first_of(",?&") == std::string::npos && !element.starts_with('"')) return element;
  std::string result = "\"";
  for (char const c : element) result += c == '"' ? "\"\"" : std::string(1, c);
  return result + "\"";
}

std::string SpecOptions::text(std::string_view name, std::string const& otherwise) const {
  auto const found = values_.find(name);
  return found == values_.end() ? otherwise : found->second.text;
}
std::vector<std::string> SpecOptions::list(std::string_view name) const {
  auto const found = values_.find(name);
  return found == values_.end() ? std::vector<std::string>{} : found->second.list;
}
std::optional<Index> SpecOptions::number(std::string_view name, Index least, char const* expected) const {
  auto const found = values_.find(name);
  if (found == values_.end()) return {};
  std::string const& text = found->second.text;
  Index value = 0;
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || *end != '\0' || value < least)
    throw ConfigError{"the option " + found->first + " is '" + text + "', expected " + expected};
  return value;
}
Index SpecOptions::count(std::string_view name) const {
  return number(name, 1, "a whole number from 1 on").value_or(0);
}
Index SpecOptions::integer(std::string_view name, Index otherwise) const {
  return number(name, std::numeric_limits<Index>::min(), "a whole number").value_or(otherwise);
}
bool SpecOptions::flag(std::string_view name, bool otherwise) const {
  auto const found = values_.find(name);
  if (found == values_.end()) return otherwise;
  std::string const& text = found->second.text;
  if (text != "0" && text != "1")
    throw ConfigError{"the option " + found->first + " is '" + text + "', expected 1 or 0"};
  return text == "1";
}

}  // namespace coldpress::data
