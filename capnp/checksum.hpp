// The checksum of a root: of what its fields say, not of how they are encoded.
#pragma once

#include "capnproto.hpp"

#include <cstdint>
#include <string_view>

namespace coldpress::persist {

/// What checksumKind says: the method of `checksum`, version 1.
inline constexpr std::string_view checksum_kind = "coldpress 1";

/// Folds 64-bit words, each into the state by mix(state, word) of core/random.hpp, starting with 0. As mix is a
/// bijection of the word for each state and of the state for each word, a change within one word never goes unseen. The
/// words are, of a struct, for each field in order of ordinals that is not at its default (empty lists and texts are;
/// the chosen member of a union never is): its name, then its value; then 0. A text is its length and its bytes, 8 a
/// word; a list its length and its elements, floats of a tensor two a word; a number one word, floats by their bits.
/// The root's checksum fields are left out. Never 0.
std::uint64_t checksum(capnp::DynamicStruct::Reader root);

/// A fuzzer changes bytes all the time: it goes on with what the checksum would tell from accidents. The preset fuzz
/// defines the name that fuzzers have for this, and nothing else does.
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
inline constexpr bool is_fuzzed = true;
#else
inline constexpr bool is_fuzzed = false;
#endif

/// Whether the root has a checksum; throws ChecksumError where it has half of one or one that is not right.
template <class Root>
bool verify_checksum(typename Root::Reader root) {
  auto const kind = root.getChecksumKind();
  bool const marked = kind.size() > 0;
  if (!marked && root.getChecksum() == 0) return false;
  if (!marked || root.getChecksum() == 0)
    throw ChecksumError{marked ? "says that it has a checksum, but there is none"
                               : "has a checksum, but does not say of which kind"};
  if (std::string_view{kind.begin(), kind.size()} != checksum_kind)
    throw ChecksumError{"has a checksum of an unknown kind: the file is damaged, or of a newer coldpress"};
  if (checksum(root) != root.getChecksum() && !is_fuzzed)
    throw ChecksumError{"the content does not match its checksum: the file is damaged, or of a newer coldpress"};
  return true;
}

template <class Root>
void set_checksum(typename Root::Builder root) {
  root.setChecksum(checksum(root.asReader()));
  root.setChecksumKind(kj::StringPtr{checksum_kind.data(), checksum_kind.size()});
}

}  // namespace coldpress::persist
