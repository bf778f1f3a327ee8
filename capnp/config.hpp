// Conversion of layer configurations between memory and messages.
#pragma once

// Layers declare their fields (COLDPRESS_FIELDS); nothing here knows an individual layer.

#include "values.hpp"

#include <coldpress/dynamic/layer_config.hpp>

namespace coldpress::persist {

/// A shape as a file gives it: with the batch as the first extent, or as the shape of one sample.
struct FileShape {
  Extents extents;
  bool of_sample;
};

/// A configuration as a file gives it. Its shapes are not in `config` but in `shapes`: for a container, those of the
/// inputs and then those of the layers; for a layer, in the order of its fields.
struct FileConfig {
  dynamic::LayerConfig config;
  std::vector<FileShape> shapes;
};

/// Throws ConfigError, FormatError or UnsupportedError, with layer and field.
FileConfig read_config(schema::LayerConfig::Reader file);

/// Puts `batch` before every shape, as Juice expects; without it, shapes are written as those of one sample. Throws
/// ConfigError for what read_config would refuse.
void write_config(schema::LayerConfig::Builder file, dynamic::LayerConfig const& config, std::optional<Index> batch);

/// Whether a message uses nothing beyond Juice's schema, so that Juice may have written it.
bool may_be_juice(capnp::DynamicStruct::Reader root);

/// How errors name a layer: "layers[2] fc1", or its name alone at the root.
std::string place_of(std::string const& container, std::size_t index, std::string const& name);

}  // namespace coldpress::persist
