// Changes single fields of a message by their paths.
#pragma once

#include "capnproto.hpp"

#include <string>

namespace coldpress::persist {

/// Sets a field to a value in Cap'n Proto's text format, for example "solver.baseLr=0.01", "loss=(hinge=void)" or
/// "network.sequential.layers[2].linear.outputSize=20". Throws FormatError if the field or the list entry does not
/// exist, or the value is not of its type. Returns the field of `root` that the change is in.
std::string apply_change(capnp::DynamicStruct::Builder root, std::string const& change);

}  // namespace coldpress::persist
