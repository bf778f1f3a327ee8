// The part of the grammar of specs that is about lists and quotes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace coldpress::data {

/// The value of an option, for those that take a list and those that take a text.
struct SpecValue {
  std::string text;  // as it is, or without its quotes if it is one element in quotes
  std::vector<std::string> list;
};

/// Takes a value from the beginning of a text, up to one of the characters of `end`. Commas separate its elements. An
/// element that begins with a double quote goes to the next one, with commas and all other characters, and quotes in it
/// are doubled. Throws ConfigError for a quote that does not end, and for what follows it.
SpecValue take_value(std::string_view& text, std::string_view end);

/// The element as take_value reads it.
std::string quoted_for_list(std::string const& element);

}  // namespace coldpress::data
