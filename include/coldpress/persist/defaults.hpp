// The meaning of files that omit fields of a layer.
#pragma once

#include <coldpress/dynamic/layer_config.hpp>

#include <string>
#include <vector>

namespace coldpress::persist {

/// A layer as read from a file that gives only its kind. It is the layer's own default, except for layers that Juice
/// has, where it is what Juice's files mean.
struct FileDefaults {
  dynamic::LayerType layer;
  std::vector<std::string> required;  // the fields, by their C++ names, that a file must give
};

/// The defaults for the kind of layer of `kind`, whose fields are ignored.
[[nodiscard]] FileDefaults defaults_in_file(dynamic::LayerType const& kind);

}  // namespace coldpress::persist
