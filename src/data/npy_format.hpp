// The layout of .npy files, which alone or in .npz files hold arrays.
#pragma once

#include "input_file.hpp"

#include <coldpress/data/npy.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace coldpress::data {

/// How the values of an array are stored.
struct NpyType {
  std::string_view name;  // as in a header
  std::size_t width;      // of a value, in bytes
  /// Converts `count` values to floats, up to the first that is beyond their range; returns how many it has converted.
  std::size_t (*convert)(std::byte const* values, std::size_t count, float* floats);
};

struct NpyHeader {
  NpyType const* type;
  std::vector<Index> extents;
  std::size_t bytes;   // from the beginning of the file to the values
  std::size_t values;  // their number, which the file can hold
};

/// Reads up to the first value. Throws FormatError.
NpyHeader read_npy_header(InputFile& source);
/// Reads the values after their header, to the end. Throws FormatError.
std::vector<float> read_npy_values(InputFile& source, NpyHeader const& header);

/// The beginning of a file of float32 values, at least `size` bytes.
std::string npy_beginning(std::span<Index const> extents, std::size_t size = 0);

}  // namespace coldpress::data
