// Weights in safetensors files, with PyTorch's names and layouts. Link coldpress::convert.
#pragma once

#include <coldpress/convert/weights.hpp>

namespace coldpress::convert {

/// The config's network with the weights of a .safetensors file: a state_dict of PyTorch. The layer called features.0
/// has the tensors features.0.weight and features.0.bias, or what Options::names says; docs/pytorch.md has the table of
/// modules and layouts. Floats of 16, 32 and 64 bits, bfloat16, integers and bools become the nearest floats.
///
/// Throws what fill throws, where a part of a weight is said by its tensor; MismatchError for a line of Options::names
/// that matches nothing in the file; FileError; FormatError if the file is damaged, if its tensors leave holes, overlap
/// or have the same name, or if the header has more than 100,000,000 bytes, 65,536 tensors or 65,535 bytes of a name;
/// UnsupportedError for a file of pickles, for numbers of another type, or if the library was built without
/// nlohmann-json. All sizes are checked before memory is taken.
[[nodiscard]] Conversion read_safetensors(std::string const& path, dynamic::LayerConfig config,
                                          Options const& options = {});

/// Writes the weights as float32, so that load_state_dict of a module with modules of these names takes them; the bytes
/// are those that PyTorch's safetensors.torch.save_file writes with the metadata {"format": "pt"}. Weights that layers
/// share are written for each of them. The file is written atomically.
///
/// Throws UnsupportedError, which names all weights that no module of PyTorch has, or if the library was built without
/// nlohmann-json; MismatchError if two weights would have the same name; DataError for a weight that is not finite, and
/// for a name that is not UTF-8 or has more than 65,535 bytes; and FileError.
void write_safetensors(std::string const& path, persist::Model const& model, NameMap const& names = {});

}  // namespace coldpress::convert
