// HDF5 files that h5py writes, as make_hdf5.py says.
#pragma once

#include "data/files.hpp"

/// The files that h5py writes; none if there is no h5py.
struct Hdf5Files {
  TemporaryFolder folder;
  bool made = false;
  Hdf5Files() {
    std::string const script = (std::filesystem::path(__FILE__).parent_path() / "make_hdf5.py").string();
    char const* const root = std::getenv("COLDPRESS_SOURCE_DIR");
    std::string const file = root ? std::string{root} + "/tests/data/make_hdf5.py" : script;
    for (char const* const python : {"python3", "/usr/bin/python3"})
      made = made || std::system((std::string{python} + " -c 'import h5py' 2>/dev/null && " + python + " '" + file +
                                  "' '" + folder / "' >&2")
                                     .c_str()) == 0;
    if (!made) WARN("skipped: there is no python3 with h5py");
  }
  std::string path(std::string const& name) const { return folder / name; }
};
