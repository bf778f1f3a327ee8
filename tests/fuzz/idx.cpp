// The reader of IDX files, plain and compressed.
#include <coldpress/data/idx.hpp>

#include "fuzz.hpp"

void coldpress::fuzz::run(std::span<std::byte const> bytes) {
  MemoryFile const file{bytes};
  for (int const rank : {1, 3}) {
    try {
      auto const array = data::read_idx(file.path(), rank);
      demand_count(array.extents, array.values.size());
    } catch (FormatError const& error) {
      demand(error.file() == file.path(), "an error does not name its file");
    }
  }
}
