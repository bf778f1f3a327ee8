// Transposes kernels, and packs the gates of recurrent weights in the order that they have here.
#include "keras_layout.hpp"

namespace coldpress::convert::keras {
namespace {

/// The number that gate q of coldpress has in Keras: a GRU's r, z, h are z, r, h there.
Index gate_of(RnnType type, Index q) { return type == RnnType::gru && q < 2 ? 1 - q : q; }

/// Appends a matrix {rows, gates units} as one {units, rows} for each gate.
void append(std::vector<float>& packed, RnnType type, Array const& matrix) {
  Index const rows = matrix.shape[0], columns = matrix.shape[1], units = columns / gates_of(type);
  for (Index q = 0; q < gates_of(type); ++q) {
    for (Index unit = 0; unit < units; ++unit) {
      for (Index row = 0; row < rows; ++row)
        packed.push_back(matrix.values[static_cast<std::size_t>(row * columns + gate_of(type, q) * units + unit)]);
    }
  }
}

/// Appends the biases of the input's and of the state's sums.
void append_biases(std::vector<float>& packed, RnnType type, Recurrent const& one) {
  Index const biases = one.kernel.shape[1], units = biases / gates_of(type);
  for (Index half = 0; half < 2; ++half) {
    bool const given = one.bias && half * biases < static_cast<Index>(one.bias->values.size());
    for (Index q = 0; q < gates_of(type); ++q) {
      for (Index unit = 0; unit < units; ++unit) {
        auto const place = static_cast<std::size_t>(half * biases + gate_of(type, q) * units + unit);
        packed.push_back(given ? one.bias->values[place] : 0);
      }
    }
  }
}

}  // namespace

std::vector<float> permuted(Array const& array, std::vector<int> const& axes) {
  std::size_t const rank = axes.size();
  std::vector<std::size_t> pitches(rank), extents(rank), place(rank);
  for (std::size_t a = 0; a < rank; ++a) {
    auto const axis = static_cast<std::size_t>(axes[a]);
    extents[a] = static_cast<std::size_t>(array.shape[axis]);
    pitches[a] = 1;
    for (std::size_t after = axis + 1; after < rank; ++after)
      pitches[a] *= static_cast<std::size_t>(array.shape[after]);
  }
  std::vector<float> values;
  values.reserve(array.values.size());
  std::size_t at = 0;
  while (values.size() < array.values.size()) {
    values.push_back(array.values[at]);
    for (std::size_t a = rank; a-- > 0;) {
      at += pitches[a];
      if (++place[a] < extents[a]) break;
      at -= pitches[a] * extents[a];
      place[a] = 0;
    }
  }
  return values;
}

std::vector<float> outputs_first(Array const& kernel) {
  auto const rank = static_cast<int>(kernel.shape.size());
  std::vector<int> axes{rank - 1, rank - 2};
  for (int a = 0; a < rank - 2; ++a) axes.push_back(a);
  return permuted(kernel, axes);
}

std::vector<Index> bias_shape(RnnType type, bool reset_after, Index units) {
  Index const columns = gates_of(type) * units;
  if (type == RnnType::gru && reset_after) return {2, columns};
  return {columns};
}

std::vector<float> packed(RnnType type, std::span<Recurrent const> directions) {
  std::vector<float> values;
  for (Recurrent const& one : directions) {
    append(values, type, one.kernel);
    append(values, type, one.recurrent);
  }
  for (Recurrent const& one : directions) append_biases(values, type, one);
  return values;
}

}  // namespace coldpress::convert::keras
