// Knows a file by its content, and reads the network in it. Link coldpress::convert.
#pragma once

#include <coldpress/convert/weights.hpp>

#include <string>
#include <string_view>

namespace coldpress::convert {

/// The format that the content of a file says: "safetensors", "npz", "npy", "nam", "rtneural", "onnx", "keras" or
/// "hdf5"; or "pickle", which nothing here reads. Empty for others, such as Cap'n Proto's messages, which do not say
/// what they are, and for what cannot be opened.
[[nodiscard]] std::string_view format_of_content(std::string const& path);

/// Throws UnsupportedError, which says how to save the model instead, if the file has pickles of Python, as .pt, .pth
/// and .bin files of PyTorch: to read one is to run the program in it.
void refuse_pickles(std::string const& path);

/// The network in a file of coldpress, Juice, ONNX, Keras or RTNeural, or in a .nam file, of which the content says
/// which it is, or else the ending. The options are those of persist::read_model; other files than Juice's have no
/// filters to rotate.
///
/// Throws UnsupportedError for pickles, and for a file that has only weights (safetensors, npz, HDF5), with what reads
/// it; and what the reader of the format throws.
[[nodiscard]] Conversion read_network(std::string const& path, LoadOptions const& options = {});

}  // namespace coldpress::convert
