// Networks as texts for people: types in C++, and configs.
#pragma once

#include <coldpress/persist/model.hpp>

#include <string>

namespace coldpress::command {

/// How a type is written.
struct TypeOptions {
  std::string name_space = {};
  std::string origin = {};      // the file that the network is from
  std::string weights = {};     // the file with its weights; empty if it has none
  bool writes_weights = false;  // that file is written, too, unless there is another one of this name
};

/// The .juice beside a header.
std::string weights_beside(std::string const& header);

/// Writes a header with the network as a type and, if options.writes_weights, its weights. Neither is written unless
/// both can be.
void write_type(std::string const& path, persist::Model const& model, TypeOptions const& options);

/// The network and the transforms in a file for people, without weights.
persist::Model model_of_config(std::string const& path);
/// Writes such a file.
void write_config(std::string const& path, persist::Model const& model);

}  // namespace coldpress::command
