// Single values between layers and messages: what of them makes sense, and one overload a type of field.
#pragma once

#include "capnproto.hpp"

#include <coldpress/core/parameter.hpp>
#include <coldpress/core/shape.hpp>
#include <coldpress/persist/model.hpp>

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace coldpress::persist {

/// A shape as files have it: with the batch as first extent.
using Extents = std::vector<Index>;
std::string to_string(Extents const& extents);

/// outputSize -> output_size; back is camel_case.
std::string snake_case(std::string_view name);

// Each throws ConfigError, without naming the field, where the value means nothing.
void check_size(std::uint64_t size);               // 1 to 2^40
void check_extents(Extents const& extents);        // each 1 to 2^40, and their product
void check_number(std::string_view field, float);  // finite; what is called a probability is at least 0 and below 1
void check_text(std::string_view text);            // UTF-8 without control characters of ASCII
void check_new_text(std::string_view text);  // also without those of Unicode, and without those that turn the writing
void check_filler(Filler const& filler);
void check_factor(float factor);  // finite, at least 0

/// Throws ConfigError, too, for a number that is no enumerator.
template <Spelled Enum>
std::string checked_spelling(Enum value) {
  if (static_cast<std::size_t>(value) >= spellings(value).size()) throw ConfigError{"is no value of it"};
  return coldpress::to_string(value);
}

/// Names of one kind, each given once. Throws ConfigError where one is empty, no text, or comes again.
class UniqueNames {
 public:
  void add(std::string const& name);

 private:
  std::set<std::string, std::less<>> names_;
};

/// The enumerator that the schema's enumeration spells as ours does. Throws UnsupportedError where a newer schema wrote
/// it.
template <Spelled Enum>
Enum read_enumerator(capnp::DynamicEnum file) {
  KJ_IF_MAYBE (enumerant, file.getEnumerant()) {
    std::string_view const name = enumerant->getProto().getName().cStr();
    auto const known = spellings(Enum{});
    for (std::size_t i = 0; i < known.size(); ++i)
      if (known[i] == name) return static_cast<Enum>(i);
  }
  throw UnsupportedError{"has a value that this version of coldpress does not know"};
}
/// The same enumerator of the schema's. Throws ConfigError for a number that is none.
template <Spelled Enum>
capnp::DynamicEnum written_enumerator(capnp::EnumSchema schema, Enum value) {
  return schema.getEnumerantByName(text_for(checked_spelling(value)));
}

Filler read_filler(schema::Filler::Reader file);
void write_filler(schema::Filler::Builder file, Filler const& filler);

/// Extents in [1, 2^40], checked before anything is stored; at most `max_rank` of them. Throws ConfigError.
Extents read_extents(capnp::List<std::uint64_t>::Reader file, unsigned max_rank);

/// Entries of a list in a message. Throws ConfigError where there are more than 2^29 - 1, the most that a list can
/// hold.
unsigned list_size(std::size_t entries);

}  // namespace coldpress::persist
