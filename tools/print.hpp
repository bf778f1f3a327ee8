// Networks and weights as text for people.
#pragma once

#include <coldpress/persist/model.hpp>

#include <cstdio>

namespace coldpress::command {

/// The fewest digits that give the number back.
std::string to_string(float value);

/// Names and values; of a layer's weights those that are not the layer's own.
using Fields = std::vector<std::pair<std::string, std::string>>;
Fields fields_of(dynamic::LayerType const& layer);
Fields fields_of(dynamic::AnyOptimizer const& optimizer);

/// Prints the text, with what a terminal would obey instead of showing it spelt out. Line ends stay; what follows one
/// begins with `indent`.
void show(std::string_view text, std::FILE* stream = stdout, char const* indent = "");

/// A blank line, the title, and the text below it, indented.
std::string section(std::string const& title, std::string const& text);

/// One line a layer with its name, kind and fields, indented by container. A field that has the default of Juice's
/// files where that of C++ is another says so.
std::string tree(dynamic::LayerConfig const& config);

/// One line a tensor: name, shape, least and greatest value, root of the mean square.
std::string table(std::vector<persist::NamedTensor> const& tensors);

/// How many values the tensors have.
std::size_t count(std::vector<persist::NamedTensor> const& tensors);

}  // namespace coldpress::command
