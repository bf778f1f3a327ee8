#include <coldpress/data/csv.hpp>

#include "input_file.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>

namespace coldpress::data {
namespace {

// Text does not announce its size, so a small compressed file could unpack to any length.
constexpr std::size_t longest_line = std::size_t{1} << 24;
constexpr std::size_t most_text = std::size_t{1} << 33;

class Lines {
 public:
  explicit Lines(InputFile& source) : source_(source) {}

  /// The next line without its line ending, or nothing at the end of the file.
  std::optional<std::string_view> next() {
    line_.clear();
    for (;;) {
      if (left_.empty()) {
        std::size_t const got = source_.read(std::as_writable_bytes(std::span{piece_}));
        if (got == 0) break;
        if ((total_ += got) > most_text)
          source_.malformed("is longer than " + std::to_string(most_text) + " bytes of text");
        left_ = {piece_.data(), got};
      }
      auto const end = left_.find('\n');
      line_ += left_.substr(0, end);
      if (line_.size() > longest_line)
        source_.malformed("line " + std::to_string(number_ + 1) + " is longer than " + std::to_string(longest_line) +
                          " bytes");
      left_.remove_prefix(end == std::string_view::npos ? left_.size() : end + 1);
      if (end != std::string_view::npos) return finish();
    }
    if (line_.empty()) return {};
    return finish();
  }
  std::size_t number() const { return number_; }

 private:
  std::string_view finish() {
    std::string_view line = line_;
    if (number_++ == 0 && line.starts_with("\xef\xbb\xbf")) line.remove_prefix(3);
    if (line.ends_with('\r')) line.remove_suffix(1);
    return line;
  }

  InputFile& source_;
  std::array<char, 1 << 16> piece_;
  std::string_view left_;
  std::string line_;
  std::size_t number_ = 0, total_ = 0;
};

std::string_view trimmed(std::string_view text) {
  auto const first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

struct Number {
  enum { none, beyond, some } kind;
  float value;
};

Number parse(std::string_view field) {
  if (field.starts_with('+') && !field.starts_with("+-")) field.remove_prefix(1);
  char const *const begin = field.data(), *const end = begin + field.size();
  float value = 0;
  auto const [stop, error] = std::from_chars(begin, end, value);
  if (error == std::errc::invalid_argument || stop != end) return {Number::none, 0};
  if (error == std::errc{}) return {std::isfinite(value) ? Number::some : Number::beyond, value};
  // Too small for a float means zero or nearly zero, too large is an error; from_chars does not say which it was.
  double wide = 0;
  if (std::from_chars(begin, end, wide).ec != std::errc{} || std::abs(wide) > 1) return {Number::beyond, 0};
  return {Number::some, static_cast<float>(wide)};
}

/// Splits a line into its fields.
class Fields {
 public:
  Fields(InputFile const& source, std::size_t line, std::string_view text)
      : source_(source), line_(line), text_(text) {}

  std::optional<std::string_view> next() {
    if (ended_) return {};
    ++column_;
    auto end = text_.find(',');
    std::string_view field = trimmed(text_.substr(0, end));
    if (field.starts_with('"')) {
      auto const open = text_.find('"'), close = text_.find('"', open + 1);
      if (close == std::string_view::npos) malformed("the closing quote is missing");
      end = text_.find(',', close);
      if (!trimmed(text_.substr(close + 1, end == std::string_view::npos ? end : end - close - 1)).empty())
        malformed("there is text after the closing quote");
      field = trimmed(text_.substr(open + 1, close - open - 1));
    }
    if (field.empty()) malformed("the field is empty");
    ended_ = end == std::string_view::npos;
    if (!ended_) text_.remove_prefix(end + 1);
    return field;
  }
  [[noreturn]] void malformed(std::string const& sentence) const {
    source_.malformed("line " + std::to_string(line_) + ", column " + std::to_string(column_) + ": " + sentence);
  }

 private:
  InputFile const& source_;
  std::size_t line_;
  std::string_view text_;
  std::size_t column_ = 0;
  bool ended_ = false;
};

bool is_header(InputFile const& source, std::string_view line) {
  Fields fields{source, 1, line};
  while (auto const field = fields.next())
    if (parse(*field).kind != Number::none) return false;
  return true;
}

}  // namespace

CsvTable read_csv(std::string const& path, ReadOptions options) {
  InputFile source{path, options};
  Lines lines{source};
  CsvTable table;
  std::size_t blank_line = 0;
  while (auto const line = lines.next()) {
    if (trimmed(*line).empty()) {
      blank_line = blank_line ? blank_line : lines.number();
      continue;
    }
    // Blank lines are allowed only at the end of the file.
    if (blank_line) source.malformed("line " + std::to_string(blank_line) + " is empty");

    Fields fields{source, lines.number(), *line};
    if (lines.number() == 1 && is_header(source, *line)) {
      while (auto const field = fields.next()) table.names.emplace_back(*field);
      table.columns = static_cast<Index>(table.names.size());
      continue;
    }
    Index columns = 0;
    while (auto const field = fields.next()) {
      Number const number = parse(*field);
      if (number.kind == Number::none) fields.malformed(printable(*field) + " is not a number");
      if (number.kind == Number::beyond) fields.malformed(printable(*field) + " is not a finite float");
      table.values.push_back(number.value);
      ++columns;
    }
    if (table.columns == 0) table.columns = columns;
    if (columns != table.columns)
      fields.malformed("the line ends here, with " + std::to_string(columns) + " fields, but the first line has " +
                       std::to_string(table.columns));
  }
  if (table.values.empty()) source.malformed("has no row of numbers");
  return table;
}

}  // namespace coldpress::data
