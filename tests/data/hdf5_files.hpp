// HDF5 files that h5py writes, as make_hdf5.py says.
#pragma once

#include "data/python_files.hpp"

struct Hdf5Files : PythonFiles {
  Hdf5Files() : PythonFiles("make_hdf5.py", "h5py") {}
};
