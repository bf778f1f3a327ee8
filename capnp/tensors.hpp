// Tensors between memory and messages.
#pragma once

#include "capnproto.hpp"

#include <coldpress/persist/model.hpp>

#include <span>
#include <vector>

namespace coldpress::persist {

/// Throws FormatError that names `field` and the entry: a name that is empty or comes again, a shape that does not
/// count the values.
std::vector<NamedTensor> read_tensors(capnp::List<schema::Weight>::Reader file, std::string const& field);
void write_tensors(capnp::List<schema::Weight>::Builder file, std::span<NamedTensor const> tensors,
                   std::string const& field);

/// A first segment that holds them all and a little more.
unsigned words_for(std::span<NamedTensor const> tensors);

}  // namespace coldpress::persist
