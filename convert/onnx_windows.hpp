// What convolutions and poolings have in common: windows that slide over the axes of an image.
#pragma once

#include "onnx_operators.hpp"

namespace coldpress::convert::onnx {

/// Windows, with a number for each axis of the image, or of a row of values.
struct Windows {
  std::vector<Index> filter, stride, dilation, before, after;

  std::size_t axes() const { return filter.size(); }
  bool symmetric() const { return before == after; }
  bool padded() const;
};

/// The windows that the attributes of a call describe, for an input whose first axis is the samples and second one the
/// channels. `filter` is that of the weights, if there are any.
Windows windows_of(Call const& call, Value const& x, std::vector<Index> filter);

/// The samples of an input [samples, channels, ...] as images {channels, height, width}, in which a row of values has
/// one row of places; as volumes {channels, depth, height, width} with three axes. Throws Refusal for other inputs.
Sample images_of(Call& call, Value const& x);
/// The value of such images.
Value of_images(Call& call, Value const& x, Sample const& images);

/// The numbers for the axes of an image; a row of values has `otherwise` for its rows.
PerAxis per_axis(std::vector<Index> const& numbers, Index otherwise);

}  // namespace coldpress::convert::onnx
