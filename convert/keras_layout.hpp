// Converts the layouts of Keras' weights to coldpress'. Keras has inputs before outputs, and channels last.
#pragma once

#include <coldpress/core/recurrent.hpp>

#include <optional>
#include <span>
#include <vector>

namespace coldpress::convert::keras {

struct Array {
  std::vector<Index> shape;   // row-major
  std::vector<float> values;  // as many as the shape says
};

/// The values with the axes in this order.
[[nodiscard]] std::vector<float> permuted(Array const& array, std::vector<int> const& axes);

/// The kernel of a Dense {in, out} as {out, in}; that of a Conv1D {taps, in, out} as {out, in, taps}; that of a Conv2D
/// {height, width, in, out} as {out, in, height, width}, and of a Conv3D likewise. The kernel of a Conv2DTranspose
/// {height, width, out, in} becomes {in, out, height, width}.
[[nodiscard]] std::vector<float> outputs_first(Array const& kernel);

/// The weights of one direction of a recurrent layer: the kernel {in, gates units}, the recurrent kernel {units, gates
/// units} and the biases, which are 0 if there are none. The gates are i, f, c, o of an LSTM and z, r, h of a GRU.
struct Recurrent {
  Array kernel, recurrent;
  std::optional<Array> bias = {};
};
/// The biases of a recurrent layer are {gates units}, or {2, gates units} of a GRU with reset_after.
[[nodiscard]] std::vector<Index> bias_shape(RnnType type, bool reset_after, Index units);
/// The directions of one layer, packed as core/recurrent.hpp says.
[[nodiscard]] std::vector<float> packed(RnnType type, std::span<Recurrent const> directions);

}  // namespace coldpress::convert::keras
