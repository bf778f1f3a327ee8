// PyTorch's names and layouts of weights: the one table for all files that have a tensor for each name.
#pragma once

#include <coldpress/convert/weights.hpp>

#include <exception>

namespace coldpress::convert {

/// A tensor of a file, whose values are read when it is known that they fit.
struct Tensor {
  std::string name;
  std::vector<Index> shape;                    // row-major; none for a single number
  std::function<void(std::span<float>)> read;  // writes all values
  std::exception_ptr unreadable = {};          // why it has no values; thrown where they are needed
};

/// The config's network with the weights of a state_dict: fill, after names and layouts have become those of coldpress.
[[nodiscard]] Conversion fill_from_state_dict(dynamic::LayerConfig config, std::vector<Tensor> const& tensors,
                                              Options const& options);

/// The weights of a model under the names and with the layouts of PyTorch, in the order of the names. A weight that
/// layers share is there for each of them. Throws UnsupportedError, which names all weights that no module of PyTorch
/// has, and MismatchError if two would have the same name.
[[nodiscard]] std::vector<persist::NamedTensor> state_dict_of(persist::Model const& model, NameMap const& names);

}  // namespace coldpress::convert
