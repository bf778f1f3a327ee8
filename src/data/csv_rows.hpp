// The rows of a table in text, one after another.
#pragma once

#include "input_file.hpp"

#include <array>
#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace coldpress::data {

struct CsvDialect {
  char delimiter = ',';
  std::optional<bool> header = {};  // whether the first line has names; by default if none of its fields is a number
  std::string_view doubt = {};      // said in errors about a first line of numbers and texts that is taken for a row
  /// The options that take a column with texts, which errors about a text in place of a number name.
  std::string_view class_option = {}, ignore_option = {};
};

struct CsvNumber {
  enum { none, beyond, some } kind;
  float value;
};
/// The number in a field, or why it has none that a float can hold.
CsvNumber parse_number(std::string_view field);

/// Every row has as many fields as the first line. Columns are counted from 0. All functions throw FormatError with
/// the line and the column.
class CsvRows {
 public:
  CsvRows(std::string const& path, ReadOptions options, CsvDialect dialect);
  CsvRows(CsvRows const&) = delete;

  /// The first field of the first line.
  std::string_view first_field() const { return names_.empty() ? fields_[0] : std::string_view{names_[0]}; }
  std::vector<std::string> const& names() const { return names_; }  // of the columns; empty if there is no header
  std::size_t columns() const { return columns_; }
  /// Whether the first line has numbers and texts, and it was not said whether it has names. It is taken for a row.
  bool in_doubt() const { return in_doubt_; }
  /// Goes to the next row; false at the end.
  bool next();
  /// A field of this row, which must not be empty.
  std::string_view text(std::size_t column) const;
  /// The same as a finite number.
  float number(std::size_t column) const;
  [[noreturn]] void malformed(std::size_t column, std::string const& sentence) const;
  InputFile const& file() const { return source_; }

 private:
  std::string options_for_text(std::size_t column) const;
  bool next_line();
  std::optional<std::string_view> read_line();
  void split(std::string_view line);

  InputFile source_;
  CsvDialect dialect_;
  std::array<char, 1 << 16> piece_;
  std::string_view left_;  // of the piece
  std::string line_;
  std::size_t number_ = 0, total_ = 0;  // lines, and bytes of text
  std::size_t columns_ = 0;
  std::vector<std::string> names_;
  std::vector<std::string_view> fields_;
  std::deque<std::string> unquoted_;
  bool in_doubt_ = false;
  bool waiting_ = false;  // whether the fields are of a row that next() has not returned
};

}  // namespace coldpress::data
