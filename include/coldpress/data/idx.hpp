// Reads IDX, the format of MNIST: unsigned bytes with extents, big-endian, plain or gzip-compressed.
#pragma once

#include <coldpress/data/read_options.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace coldpress::data {

struct IdxArray {
  std::vector<Index> extents;  // the first is the number of samples
  std::vector<std::uint8_t> values;
};

/// Reads `path`, which must have `rank` extents and end after the values that these promise. Throws FileError or
/// FormatError.
IdxArray read_idx(std::string const& path, int rank, ReadOptions options = {});

}  // namespace coldpress::data
