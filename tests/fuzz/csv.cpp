// The reader of CSV files, plain and compressed.
#include <coldpress/data/csv.hpp>

#include "fuzz.hpp"

#include <cmath>

void coldpress::fuzz::run(std::span<std::byte const> bytes) {
  MemoryFile const file{bytes};
  try {
    auto const table = data::read_csv(file.path());
    demand(table.columns > 0 && static_cast<Index>(table.values.size()) == table.rows() * table.columns,
           "rows and columns do not count the values");
    for (float const value : table.values) demand(std::isfinite(value), "a value is not finite");
  } catch (FormatError const& error) {
    demand(error.file() == file.path(), "an error does not name its file");
  }
}
