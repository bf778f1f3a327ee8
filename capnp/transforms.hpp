// Conversion of transforms between memory and messages.
#pragma once

#include "capnproto.hpp"

#include <coldpress/data/transform.hpp>

namespace coldpress::persist {

using TransformList = capnp::List<schema::Transform>;

/// Throws ConfigError for values that make no sense, and UnsupportedError for a transform of a newer schema.
data::Transforms read_transforms(TransformList::Reader file);
/// Throws ConfigError for what read_transforms would refuse.
void write_transforms(TransformList::Builder file, data::Transforms transforms);

}  // namespace coldpress::persist
