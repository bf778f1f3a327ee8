// Reads and writes NumPy's array files, whole or sample by sample.
#pragma once

#include <coldpress/data/source.hpp>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace coldpress::data {

struct NpyArray {
  std::vector<Index> extents;  // the first is the number of samples; none for a single number
  std::vector<float> values;   // row-major
};

/// Reads float32 or float64 values, integers of 1 to 8 bytes or bools, in C order and little-endian, from format 1, 2
/// or 3, and converts them to the nearest floats. Throws FileError, or FormatError that says what is wrong, for example
/// that a float64 is beyond the range of a float.
NpyArray read_npy(std::string const& path, ReadOptions options = {});

/// The samples in one file, {N, ...}, and their targets in another, {N} or {N, ...}. Without targets, the target shape
/// is empty. They are read as they are needed; an array in a gzip-compressed file is held in memory. Throws FileError
/// or FormatError. Reading throws DataError for a value that is not finite, and FormatError for a file that has become
/// shorter.
std::unique_ptr<Source> open_npy(std::string const& samples, std::optional<std::string> const& targets = {},
                                 ReadOptions options = {});
/// The same for arrays, by their names, in a .npz file. Several make a sample, or a target, together: see
/// Source::Description::sample_arrays. Arrays that are compressed are held in memory.
std::unique_ptr<Source> open_npz(std::string const& path, std::vector<std::string> const& samples,
                                 std::vector<std::string> const& targets, ReadOptions options = {});
std::unique_ptr<Source> open_npz(std::string const& path, std::string const& samples,
                                 std::optional<std::string> const& targets = {}, ReadOptions options = {});

/// Writes float32 values atomically. Throws ShapeError if `extents` do not match the number of values, and FileError.
void write_npy(std::string const& path, std::span<Index const> extents, std::span<float const> values);

}  // namespace coldpress::data
