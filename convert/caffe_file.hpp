// Caffe's binary files, with all counts and sizes checked before memory is taken.
#pragma once

#include <coldpress/core/shape.hpp>

#include "caffe.pb.h"

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace coldpress::convert {

/// An array of a file, and its shape, which has as many values: extents from 1 to 2^40, row-major; none for one number.
struct CaffeBlob {
  std::shared_ptr<caffe::Blob const> message;
  std::vector<Index> shape;

  /// Writes all values; those beyond the range of a float become infinite.
  void read(std::span<float> values) const;
};

/// A layer in the form of Caffe's newest format, whichever the file has.
struct CaffeLayer {
  std::string name, type;
  std::vector<std::string> bottom, top;  // the values that it reads and writes
  std::vector<CaffeBlob> blobs;
  bool transpose = false;  // of an InnerProduct: its matrix is {in, out}
};

/// The layers of a .caffemodel in order. Throws FileError, and FormatError with the layer and the blob.
std::vector<CaffeLayer> read_caffe_layers(std::string const& path);

/// The array of a .binaryproto. Throws the same.
CaffeBlob read_caffe_blob(std::string const& path);

}  // namespace coldpress::convert
