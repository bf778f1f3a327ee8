// Reads samples from HDF5 files as they are needed. Link coldpress::hdf5, with which open_source knows "hdf5:", too.
#pragma once

#include <coldpress/data/source.hpp>

#include <memory>
#include <string>
#include <vector>

namespace coldpress::data {

struct Hdf5Data {
  std::vector<std::string> files;
  // The names of the datasets, which have samples along their first extent. If `targets` is empty, there are no
  // targets.
  std::string samples = "data", targets = "label";
  Index block = 0;              // samples that are read together; 0: whole chunks, about 1 MiB
  Index shuffled_together = 0;  // as in Source::Description
  bool finite = true;           // whether values that are not finite are refused
};

/// The samples of all files, one file after another. The datasets may be contiguous, chunked or compressed, of any
/// integer or floating-point type; values are converted to float. Each reader holds one block, and keeps up to 8 files
/// open. Throws FileError if a file cannot be opened, FormatError if it is not HDF5, lacks a dataset, or has datasets
/// that do not fit each other or those of the first file. Data that is stored in other files (external links, external
/// storage, virtual datasets) is refused. Reading throws FormatError for damaged data and for a file that has changed,
/// and DataError for a value that is not finite if `finite`.
std::unique_ptr<Source> open_hdf5(Hdf5Data data);

}  // namespace coldpress::data
