// NumPy's array files.
#pragma once

#include <coldpress/data/read_options.hpp>

#include <span>
#include <string>
#include <vector>

namespace coldpress::data {

struct NpyArray {
  std::vector<Index> extents;  // the first counts the samples; none for a single number
  std::vector<float> values;   // row-major
};

/// Reads float32, float64, uint8, int32 or int64 values, little-endian and in C order, format 1, 2 or 3, as the nearest
/// floats. Throws FileError, or FormatError that says what is wrong, also where a float64 is beyond the range of a
/// float.
NpyArray read_npy(std::string const& path, ReadOptions options = {});

/// Writes float32 values atomically. Throws ShapeError where `extents` do not count the values, and FileError.
void write_npy(std::string const& path, std::span<Index const> extents, std::span<float const> values);

}  // namespace coldpress::data
