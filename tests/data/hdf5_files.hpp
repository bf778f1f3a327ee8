// HDF5 files that h5py writes, as make_hdf5.py says.
#pragma once

#include "data/python_files.hpp"

// The library itself loses some bytes when it cannot open or write a file.
extern "C" char const* __lsan_default_suppressions();
extern "C" char const* __lsan_default_suppressions() { return "leak:libhdf5"; }

struct Hdf5Files : PythonFiles {
  Hdf5Files() : PythonFiles("make_hdf5.py", "h5py") {}
};
