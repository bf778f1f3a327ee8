// Knows files of other formats by their first bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace coldpress::persist {

/// A format of others.
struct OtherFormat {
  std::string_view name;  // in one word: "json", "zip", "hdf5", "safetensors", "onnx", "npy", "pickle" and others
  std::string_view is;    // what such a file is, ...
  std::string_view read;  // ... and what reads it, as the end of a sentence
  bool (*begins)(std::string_view begin, std::uint64_t size);
};

/// The format of a file of `size` bytes that begins with these; null if it is none of those that are known. It looks at
/// a few bytes, which may be those of another file by chance: ask only what to say of a file that was refused, or what
/// to try first.
OtherFormat const* other_format(std::string_view begin, std::uint64_t size);

/// The end of a sentence that refuses such a file: "; it seems to be ...". Empty if the format is not known.
std::string seems_to_be(std::string_view begin, std::uint64_t size);

}  // namespace coldpress::persist
