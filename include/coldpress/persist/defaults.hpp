// What a file means that leaves fields of a layer out.
#pragma once

#include <coldpress/dynamic/layer_config.hpp>

#include <string>
#include <vector>

namespace coldpress::persist {

/// A layer as a file gives it that says nothing but its kind. That is the layer's own default, but for what Juice has:
/// there it is what Juice's files mean.
struct FileDefaults {
  dynamic::LayerType layer;
  std::vector<std::string> required;  // fields, by their names in C++, that a file must give
};

/// Of the kind of layer that `kind` is, whatever its fields are.
FileDefaults defaults_in_file(dynamic::LayerType const& kind);

}  // namespace coldpress::persist
