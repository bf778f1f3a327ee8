// Prints networks and weights as text for people.
#pragma once

#include <coldpress/data/source.hpp>
#include <coldpress/persist/model.hpp>

#include <cstdio>

namespace coldpress::command {

/// The fewest digits from which the number can be read back.
std::string to_string(float value);

/// Names and values of fields. Of a layer's weights, only the settings that differ from the layer's own are listed.
using Fields = std::vector<std::pair<std::string, std::string>>;
Fields fields_of(dynamic::LayerType const& layer);
Fields fields_of(dynamic::AnyOptimizer const& optimizer);

/// Prints the text, with control characters that a terminal would obey spelt out. Line ends are kept; every line after
/// the first begins with `indent`.
void show(std::string_view text, std::FILE* stream = stdout, char const* indent = "");

/// Shows how many broken samples a source has left out, and the first ten; nothing if there are none.
void show_skipped(data::Source const& source);

/// A blank line, the title, and below it the text, indented.
std::string section(std::string const& title, std::string const& text);

/// One line per layer with its name, kind and fields, indented by container. A field is marked if it has the default of
/// Juice's files and C++ has a different default.
std::string tree(dynamic::LayerConfig const& config);

/// One line per tensor: name, shape, smallest and largest value, and root mean square.
std::string table(std::vector<persist::NamedTensor> const& tensors);

/// One line per transform: its number, kind and fields. Of long lists of numbers it has the range.
std::string list(data::Transforms const& transforms);

/// The number of values in all tensors.
std::size_t count(std::vector<persist::NamedTensor> const& tensors);

}  // namespace coldpress::command
