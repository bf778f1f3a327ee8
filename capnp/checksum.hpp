// The checksum of a root: of the values of its fields, not of their encoding.
#pragma once

#include "capnproto.hpp"

#include <cstdint>
#include <string_view>

namespace coldpress::persist {

/// The value of checksumKind: the method of `checksum`, version 1.
inline constexpr std::string_view checksum_kind = "coldpress 1";

/// Folds 64-bit words one by one into a state that starts at 0, by mix(state, word) of core/random.hpp. Because mix is
/// a bijection of the word for each state and of the state for each word, a change within one word is always noticed.
///
/// The words of a struct are, for each field that is not at its default and in order of ordinals, its name and its
/// value; then 0. Empty lists and texts are at their default, and the chosen member of a union never is. The words of a
/// text are its length and its bytes, 8 per word; of a list, its length and its elements, where the floats of a tensor
/// are two per word; of a number, one word, with floats by their bits. The root's checksum fields are left out. The
/// checksum is never 0.
std::uint64_t checksum(capnp::DynamicStruct::Reader root);

/// A fuzzer changes bytes all the time, so a fuzzed program goes on where the checksum would report damage. Fuzzers
/// have this name for the purpose, and only the preset fuzz defines it.
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
inline constexpr bool is_fuzzed = true;
#else
inline constexpr bool is_fuzzed = false;
#endif

/// Whether the root has a checksum. Throws ChecksumError if it is incomplete or wrong.
template <class Root>
bool verify_checksum(typename Root::Reader root) {
  auto const kind = root.getChecksumKind();
  bool const marked = kind.size() > 0;
  if (!marked && root.getChecksum() == 0) return false;
  if (!marked || root.getChecksum() == 0)
    throw ChecksumError{marked ? "says that it has a checksum, but there is none"
                               : "has a checksum, but does not say of which kind"};
  if (std::string_view{kind.begin(), kind.size()} != checksum_kind)
    throw ChecksumError{"has a checksum of an unknown kind: the file is damaged, or from a newer version of coldpress"};
  if (checksum(root) != root.getChecksum() && !is_fuzzed)
    throw ChecksumError{
        "the content does not match its checksum: the file is damaged, or from a newer version of coldpress"};
  return true;
}

template <class Root>
void set_checksum(typename Root::Builder root) {
  root.setChecksum(checksum(root.asReader()));
  root.setChecksumKind(kj::StringPtr{checksum_kind.data(), checksum_kind.size()});
}

}  // namespace coldpress::persist
