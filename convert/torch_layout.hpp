// Which tensors of PyTorch's modules are which weights of a layer.
#pragma once

#include <coldpress/dynamic/executable.hpp>
#include <coldpress/dynamic/layer_config.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace coldpress::convert::torch {

/// A tensor of a module, and the values of a weight that it has.
struct Place {
  std::string parameter;     // what the module calls it: "weight", "weight_ih_l0"
  std::string suffix;        // of the weight's name: "-0"
  std::vector<Index> shape;  // as the weight has it
  Index first = 0;           // where the tensor begins in the weight
  bool whole = true;         // whether it is all of the weight
  bool transposed = false;   // whether the module has the two extents in reverse

  Index size() const;
};

/// The places of a layer's weight {`shape`}, in the weight's order; none if PyTorch has no module with such a weight.
[[nodiscard]] std::vector<Place> places_of(dynamic::LayerType const& layer, std::string const& suffix,
                                           Shape const& shape);

/// Whether a module has this besides its weights, and no network needs it.
[[nodiscard]] bool is_ignored(dynamic::LayerType const& layer, std::string_view parameter);

/// The values of a matrix {rows, columns} as {columns, rows}.
[[nodiscard]] std::vector<float> transposed(std::span<float const> values, Index rows, Index columns);

}  // namespace coldpress::convert::torch
