// Conversion of single values between layers and messages, and the checks of their ranges.
#pragma once

#include "capnproto.hpp"

#include <coldpress/core/enumerator.hpp>
#include <coldpress/core/parameter.hpp>
#include <coldpress/core/shape.hpp>
#include <coldpress/core/to_string.hpp>
#include <coldpress/persist/model.hpp>

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace coldpress::persist {

/// A shape as in files, with the batch as the first extent.
using Extents = std::vector<Index>;
std::string to_string(Extents const& extents);

/// Whether the schema has this annotation, of that id, on a field.
bool is_annotated(capnp::StructSchema::Field field, std::uint64_t annotation);

/// Turns outputSize into output_size. The inverse is camel_case.
std::string snake_case(std::string_view name);

// Each of these throws ConfigError, without naming the field, if the value makes no sense.
void check_size(std::uint64_t size);                                    // 1 to 2^40
void check_size(std::uint64_t size, capnp::StructSchema::Field field);  // the same, or 0 if the schema allows it
void check_extents(Extents const& extents);                             // each 1 to 2^40, and their product, too
void check_number(std::string_view field, float);  // finite; a probability is at least 0 and below 1
void check_text(std::string_view text);            // UTF-8 without ASCII control characters
void check_new_text(std::string_view text);  // also no other controls, and nothing that changes the writing direction
void check_factor(float factor);             // finite and at least 0

/// Throws ConfigError, too, for a number that is no enumerator.
template <Spelled Enum>
std::string checked_spelling(Enum value) {
  if (static_cast<std::size_t>(value) >= spellings(value).size())
    throw ConfigError{"is not one of the possible values"};
  return coldpress::to_string(value);
}

/// Names of one kind, each of which may be given once. Throws ConfigError if a name is empty, not a text, or repeated.
class UniqueNames {
 public:
  void add(std::string const& name);

 private:
  std::set<std::string, std::less<>> names_;
};

/// Our enumerator with the text of the schema's. Throws UnsupportedError if there is none, as in a file of a newer
/// version.
template <Spelled Enum>
Enum read_enumerator(capnp::DynamicEnum file) {
  KJ_IF_MAYBE (enumerant, file.getEnumerant()) {
    if (auto const known = enumerator<Enum>(enumerant->getProto().getName().cStr())) return *known;
  }
  throw UnsupportedError{"has a value that this version of coldpress does not know"};
}
/// The schema's enumerator with the text of ours. Throws ConfigError for a number that is not an enumerator.
template <Spelled Enum>
capnp::DynamicEnum written_enumerator(capnp::EnumSchema schema, Enum value) {
  return schema.getEnumerantByName(text_for(checked_spelling(value)));
}

Filler read_filler(schema::Filler::Reader file);
void write_filler(schema::Filler::Builder file, Filler const& filler);

/// Reads at most `max_rank` extents in [1, 2^40], checked before anything is stored. Throws ConfigError.
Extents read_extents(capnp::List<std::uint64_t>::Reader file, unsigned max_rank);

/// The number of entries for a list in a message. Throws ConfigError if there are more than 2^29 - 1, the most that a
/// list can hold.
unsigned list_size(std::size_t entries);

}  // namespace coldpress::persist
