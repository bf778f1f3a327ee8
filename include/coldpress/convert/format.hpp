// Knows a file by its content. Link coldpress::convert.
#pragma once

#include <string>
#include <string_view>

namespace coldpress::convert {

/// The format that the content of a file says: "safetensors", "npz", "npy", "nam", "rtneural", "keras" or "hdf5"; or
/// "pickle", which nothing here reads. Empty for others, such as Cap'n Proto's messages and protobuf's, which do not
/// say what they are, and for what cannot be opened.
[[nodiscard]] std::string_view format_of_content(std::string const& path);

/// Throws UnsupportedError, which says how to save the model instead, if the file has pickles of Python, as .pt, .pth
/// and .bin files of PyTorch: to read one is to run the program in it.
void refuse_pickles(std::string const& path);

}  // namespace coldpress::convert
