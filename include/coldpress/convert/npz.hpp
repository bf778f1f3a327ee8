// Weights in NumPy's .npz files, with PyTorch's names and layouts. Link coldpress::convert.
#pragma once

#include <coldpress/convert/weights.hpp>

namespace coldpress::convert {

/// The config's network with the weights of a .npz file, whose arrays have the names and layouts of a state_dict of
/// PyTorch, as those of read_safetensors: numpy.savez("model.npz", **{k: v.numpy() for k, v in state_dict.items()}).
/// Arrays are floats of 16, 32 or 64 bits, integers or bools in C order, stored or compressed.
///
/// Throws what read_safetensors throws; FormatError also for a member that is damaged, or unpacks to more than 100
/// times its size and 1 MiB.
[[nodiscard]] Conversion read_npz(std::string const& path, dynamic::LayerConfig config, Options const& options = {});

/// Writes the weights as float32 as write_safetensors does, one array for each name, not compressed. The file is
/// written atomically. Throws what write_safetensors throws.
void write_npz(std::string const& path, persist::Model const& model, NameMap const& names = {});

}  // namespace coldpress::convert
