// Reads and writes Cap'n Proto's text format.
#pragma once

#include "capnproto.hpp"

#include <set>
#include <span>
#include <string>

namespace coldpress::persist {

/// Whether the bytes are meant as text: they begin like text, or have no control character besides tabs and line ends.
/// Every message has some.
bool is_text(std::span<std::byte const> bytes);

/// Parses `text` into `root` with Cap'n Proto's TextCodec. Before that it refuses what the codec lets pass: brackets so
/// deep that the codec's stack would overflow, integers of more than 64 bits, fields given twice, two members of one
/// union, and layers without a kind, but for the first `path` brackets, which only say where a value is. Throws
/// FormatError with line and column, and for a misspelt name with a suggestion. After that, it refuses texts with
/// control characters or with characters that change the writing direction, with their field. Returns the fields of
/// `root` that the text gives, which a message does not tell from those that have their defaults.
std::set<std::string> parse_text(std::string const& text, capnp::DynamicStruct::Builder root, std::size_t path = 0);

/// Text that parse_text reads as the same values; 64-bit floating-point numbers to about 15 digits.
std::string to_text(capnp::DynamicStruct::Reader root);

}  // namespace coldpress::persist
