// Mocha's weights in HDF5 files. Link coldpress::convert.
#pragma once

#include <coldpress/convert/weights.hpp>
#include <coldpress/data/npy.hpp>

namespace coldpress::convert {

/// The config's network with the weights of a file that Mocha, or its tool for Caffe's models, wrote: one dataset
/// LAYER___PARAM for each weight, with PARAM filter, weight or bias. Numbers of any type become floats.
///
/// Julia's arrays are column-major, so that HDF5 has their extents in reverse. Mocha's filter (width, height, channels
/// / groups, outputs) is {outputs, channels / groups, height, width} in the file, and its matrix (in, out) is {out,
/// in}, where `in` counts a flattened image (width, height, channels) with the width fastest. Both are the order of
/// this library, byte for byte.
///
/// Throws what fill throws, FileError, and FormatError if the file is not HDF5 or has no such datasets;
/// UnsupportedError if the library was built without HDF5. HDF5 files must come from a source that is trusted.
[[nodiscard]] Conversion read_mocha(std::string const& path, dynamic::LayerConfig config, Options const& options = {});

/// Writes the weights as read_mocha reads them, atomically; weights that layers share are written for each of them.
/// Throws UnsupportedError, which names all layers whose weights Mocha does not have, or if the library was built
/// without HDF5; DataError for a weight that is not finite; and FileError.
void write_mocha(std::string const& path, persist::Model const& model);

/// The mean of Mocha's SubMean transformer, the dataset "mean", as {channels, height, width}.
[[nodiscard]] data::NpyArray read_mocha_mean(std::string const& path);

}  // namespace coldpress::convert
