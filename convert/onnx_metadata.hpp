// What an ONNX model says of itself besides its graph: texts with keys, and in one of them the names of classes.
#pragma once

#include <coldpress/persist/model.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace coldpress::convert::onnx {

/// The entries for a model's metadata and classes. The names of classes are the value of "names", as in the models of
/// Ultralytics: {"0": "cat", "1": "dog"}, which is JSON and also a literal of Python.
std::vector<persist::Entry> entries_of(persist::Model const& model);

/// Gives the model the entries of a file. "names", or else "class_names" or "labels", are the names of classes if they
/// are a list, or a mapping of all labels from 0 on, in JSON or as Python prints it. Entries that a file of coldpress
/// cannot hold, such as those with control characters, are left out.
void set_entries(persist::Model& model, std::vector<persist::Entry> entries);

/// The names in such a text; none if it is anything else.
std::vector<std::string> class_names_in(std::string_view text);

}  // namespace coldpress::convert::onnx
