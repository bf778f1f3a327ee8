// Samples and targets in arrays that are read row by row from their files.
#pragma once

#include "npy_format.hpp"

#include <coldpress/data/source.hpp>

#include <memory>
#include <optional>
#include <vector>

namespace coldpress::data {

/// The rows of an array. It stays in its file if it is stored there as it is, and otherwise is held in memory.
class ArrayRows {
 public:
  /// Reads the header, and checks that the file has all values. Throws FormatError.
  ArrayRows(InputFile source, bool finite);

  Index rows() const { return rows_; }
  Shape const& shape() const { return shape_; }
  std::string const& path() const { return path_; }
  std::string const& place() const { return place_; }  // as InputFile::place
  std::string name() const { return place_.empty() ? path_ : place_.substr(0, place_.size() - 2); }
  /// Throws FormatError, and DataError for a value that is not finite if `finite`. Any number of threads may call it.
  void read(Index first, Index count, float* values) const;

 private:
  void read_file(Index first, Index count, float* values) const;
  std::string value_at(Index i) const;  // as errors name it

  std::string path_, place_;
  bool finite_;
  NpyType const* type_ = nullptr;
  Index rows_ = 0;
  Shape shape_{};
  std::optional<PositionedFile> file_;
  std::uint64_t begin_ = 0;    // of the values in the file
  std::vector<float> values_;  // if there is no file
};

/// Samples, and their targets if there are any, each of one or several arrays that are called `names`. Throws
/// FormatError if they are not equally many.
struct NamedRows {
  std::vector<std::string> names;
  std::vector<ArrayRows> rows;
};
std::unique_ptr<Source> array_source(NamedRows samples, NamedRows targets);

}  // namespace coldpress::data
