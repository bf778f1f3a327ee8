// Reads tables of numbers as comma-separated text, plain or gzip-compressed.
#pragma once

#include <coldpress/data/read_options.hpp>

#include <string>
#include <vector>

namespace coldpress::data {

struct CsvTable {
  std::vector<std::string> names;  // of the columns; empty if the file has no header line
  Index columns = 0;
  std::vector<float> values;  // row-major

  Index rows() const { return columns == 0 ? 0 : static_cast<Index>(values.size()) / columns; }
};

/// Reads `path`. The first line is a header if none of its fields is a number. Blanks and quotes around a field are
/// ignored. Throws FileError, or FormatError with the line and column: every line must have as many fields as the
/// first, every field must be a finite number, and there must be at least one row.
CsvTable read_csv(std::string const& path, ReadOptions options = {});

}  // namespace coldpress::data
