// Layer configurations between memory and messages. Layers say their fields (COLDPRESS_FIELDS); nothing here
// knows one of them.
#pragma once

#include "values.hpp"

#include <coldpress/dynamic/layer_config.hpp>

namespace coldpress::persist {

/// A shape as a file says it: with the batch as first extent, or as the shape of one sample.
struct FileShape {
  Extents extents;
  bool of_sample;
};

/// A configuration as a file says it: its shapes are not in `config` but in `shapes`, in order: of a container first
/// the inputs and then the layers, of a layer by its fields.
struct FileConfig {
  dynamic::LayerConfig config;
  std::vector<FileShape> shapes;
};

/// Throws ConfigError, FormatError or UnsupportedError that names layer and field.
FileConfig read_config(schema::LayerConfig::Reader file);

/// `batch` is put before every shape, as Juice wants it; without one, shapes are written as those of one sample. Throws
/// ConfigError for what read_config would refuse.
void write_config(schema::LayerConfig::Builder file, dynamic::LayerConfig const& config, std::optional<Index> batch);

/// Whether a message has nothing but what Juice's schema has, so that Juice may have written it.
bool may_be_juice(capnp::DynamicStruct::Reader root);

/// The name of a layer in errors: "layers[2] fc1", or its name alone at the root.
std::string place_of(std::string const& container, std::size_t index, std::string const& name);

}  // namespace coldpress::persist
