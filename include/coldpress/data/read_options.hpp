// The options of all readers of data.
#pragma once

#include <coldpress/core/shape.hpp>

namespace coldpress::data {

struct ReadOptions {
  /// A gzip-compressed file may unpack to this many times its size plus 1 MiB. Measured data unpacks to less than 20
  /// times its size; gzip itself reaches 1032, with which a small file could fill any memory.
  Index max_expansion = 100;
  /// Whether values that are NaN or infinite are refused (npy, npz and HDF5; other formats refuse them always).
  bool finite = true;
};

}  // namespace coldpress::data
