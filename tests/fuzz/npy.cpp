// The reader of .npy files, plain and compressed.
#include <coldpress/data/npy.hpp>

#include "fuzz.hpp"

void coldpress::fuzz::run(std::span<std::byte const> bytes) {
  MemoryFile const file{bytes};
  try {
    auto const array = data::read_npy(file.path());
    demand_count(array.extents, array.values.size());
  } catch (FormatError const& error) {
    demand(error.file() == file.path(), "an error does not name its file");
  }
}
