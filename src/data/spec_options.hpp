// The options of specs, and the part of their grammar that is about lists and quotes.
#pragma once

#include <coldpress/core/shape.hpp>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace coldpress::data {

/// The value of an option, for those that take a list and those that take a text.
struct SpecValue {
  std::string text;  // as it is, or without its quotes if it is one element in quotes
  std::vector<std::string> list;
};

/// The options at the end of a spec. All of these throw ConfigError for a value that an option cannot have.
class SpecOptions {
 public:
  /// Whether there is no such option yet.
  bool add(std::string name, SpecValue value) { return values_.emplace(std::move(name), std::move(value)).second; }

  bool has(std::string_view name) const { return values_.contains(name); }
  std::string text(std::string_view name, std::string const& otherwise) const;
  /// The elements of a list; none if there is no such option.
  std::vector<std::string> list(std::string_view name) const;
  /// A whole number from 1 on; 0 if there is no such option.
  Index count(std::string_view name) const;
  /// A whole number, which may be negative.
  Index integer(std::string_view name, Index otherwise) const;
  /// 1 or 0.
  bool flag(std::string_view name, bool otherwise) const;

 private:
  /// The whole number that an option is; none if there is no such option.
  std::optional<Index> number(std::string_view name, Index least, char const* expected) const;

  std::map<std::string, SpecValue, std::less<>> values_;
};

/// Takes a value from the beginning of a text, up to one of the characters of `end`. Commas separate its elements. An
/// element that begins with a double quote goes to the next one, with commas and all other characters, and quotes in it
/// are doubled. Throws ConfigError for a quote that does not end, and for what follows it.
SpecValue take_value(std::string_view& text, std::string_view end);

/// The element as take_value reads it, and as it may stand before the options of a spec.
std::string quoted_for_list(std::string const& element);

}  // namespace coldpress::data
