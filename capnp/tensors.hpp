// Conversion of tensors between memory and messages.
#pragma once

#include "capnproto.hpp"

#include <coldpress/persist/model.hpp>

#include <span>
#include <vector>

namespace coldpress::persist {

/// Throws FormatError, with `field` and the entry, if a name is empty or repeated, or a shape does not match the number
/// of values.
std::vector<NamedTensor> read_tensors(capnp::List<schema::Weight>::Reader file, std::string const& field);
void write_tensors(capnp::List<schema::Weight>::Builder file, std::span<NamedTensor const> tensors,
                   std::string const& field);

/// The size in words of a first segment that holds all tensors and a little more.
unsigned words_for(std::span<NamedTensor const> tensors);

}  // namespace coldpress::persist
