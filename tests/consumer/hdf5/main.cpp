// The format hdf5: is known because the component is linked.
#include <coldpress/data/source.hpp>

#include <cstdio>
#include <cstring>

int main() {
  try {
    coldpress::data::open_source("hdf5:missing.h5");
  } catch (coldpress::FileError const& error) {
    std::puts(error.what());
    return std::strncmp(error.what(), "missing.h5: cannot open", 23) != 0;
  }
  return 1;
}
