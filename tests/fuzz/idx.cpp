// The reader of IDX files, plain and compressed.
#include <coldpress/data/idx.hpp>

#include "fuzz.hpp"

void coldpress::fuzz::run(std::span<std::byte const> bytes) {
  MemoryFile const file{bytes};
  for (int const rank : {1, 3}) {
    try {
      auto const array = data::read_idx(file.path(), rank);
      Index count = 1;
      for (Index const extent : array.extents) count *= extent;
      demand(static_cast<std::size_t>(count) == array.values.size(), "extents do not count the values");
    } catch (FormatError const& error) {
      demand(error.file() == file.path(), "an error does not name its file");
    }
  }
}
