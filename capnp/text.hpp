// Cap'n Proto's text.
#pragma once

#include "capnproto.hpp"

#include <span>
#include <string>

namespace coldpress::persist {

/// Whether this is meant as text: it begins as one, or has no control character besides tabs and line ends. A message
/// has some.
bool is_text(std::span<std::byte const> bytes);

/// Parses `text` into `root` by Cap'n Proto's TextCodec, after a look at what that lets pass: brackets so deep that its
/// stack would end, integers beyond 64 bits, fields given twice and two members of one union. Throws FormatError with
/// line and column, and for a misspelt name with the one that may have been meant. Texts with control characters, or
/// with those that change the direction of the writing, are refused after that, with their field.
void parse_text(std::string const& text, capnp::DynamicStruct::Builder root);

/// Text that parse_text reads as the same values; numbers of 64 bits to about 15 digits.
std::string to_text(capnp::DynamicStruct::Reader root);

}  // namespace coldpress::persist
