// Caffe's trained networks and mean files. Link coldpress::convert.
#pragma once

#include <coldpress/convert/weights.hpp>
#include <coldpress/data/npy.hpp>

namespace coldpress::convert {

/// The config's network with the weights of a .caffemodel, by layer name, of any generation of Caffe's format.
/// Convolution {outputs, channels / groups, height, width}, InnerProduct {out, in}, also stored transposed, and Embed
/// {vocabulary, features} have weights and biases; where Caffe has no bias, it is 0. A BatchNormalization is a
/// BatchNorm of its name, whose sums are divided by its scale factor, with the weight and the bias of the Scale that
/// reads its output, or else 1 and 0.
///
/// Throws what fill throws; a layer of another type has no blobs that fit. FileError, and FormatError, which names the
/// layer and the blob, if the file is damaged or has more than 2^16 layers, blobs and names of values; UnsupportedError
/// if the library was built without protobuf.
[[nodiscard]] Conversion read_caffe(std::string const& path, dynamic::LayerConfig config, Options const& options = {});

/// The mean image of a .binaryproto file as {channels, height, width}. Throws FileError, FormatError, DataError if a
/// value is not finite, and UnsupportedError as read_caffe does.
[[nodiscard]] data::NpyArray read_caffe_mean(std::string const& path);

}  // namespace coldpress::convert
