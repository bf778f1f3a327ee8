// The reader of .npy files, and the writer of what was read.
#include <coldpress/data/npy.hpp>

#include "fuzz.hpp"

void coldpress::fuzz::run(std::span<std::byte const> bytes) {
  MemoryFile const file{bytes};
  try {
    auto const array = data::read_npy(file.path());
    bool none = false;
    Index count = 1;
    for (Index const extent : array.extents) none = none || extent == 0;
    for (Index const extent : array.extents) count *= none ? 0 : extent;
    demand(static_cast<std::size_t>(count) == array.values.size(), "extents do not count the values");
  } catch (FormatError const& error) {
    demand(error.file() == file.path(), "an error does not name its file");
  }
}
