// Reads and writes NumPy's array files.
#pragma once

#include <coldpress/data/read_options.hpp>

#include <span>
#include <string>
#include <vector>

namespace coldpress::data {

struct NpyArray {
  std::vector<Index> extents;  // the first is the number of samples; none for a single number
  std::vector<float> values;   // row-major
};

/// Reads float32, float64, uint8, int32 or int64 values in C order and little-endian, from format 1, 2 or 3, and
/// converts them to the nearest floats. Throws FileError, or FormatError that says what is wrong, for example that a
/// float64 is beyond the range of a float.
NpyArray read_npy(std::string const& path, ReadOptions options = {});

/// Writes float32 values atomically. Throws ShapeError if `extents` do not match the number of values, and FileError.
void write_npy(std::string const& path, std::span<Index const> extents, std::span<float const> values);

}  // namespace coldpress::data
