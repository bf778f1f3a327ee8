// Splits the lines of a table into fields, with quotes, separators and a header, and parses the numbers in them.
#include "csv_rows.hpp"

#include <coldpress/core/counted.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace coldpress::data {
namespace {

// Text does not announce its size, so a small compressed file could unpack to any length.
constexpr std::size_t longest_line = std::size_t{1} << 24;
constexpr std::size_t most_text = std::size_t{1} << 33;

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

std::string_view trimmed(std::string_view text) {
  auto const first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

}  // namespace

CsvNumber parse_number(std::string_view field) {
  if (field.starts_with('+') && !field.starts_with("+-")) field.remove_prefix(1);
  char const *const begin = field.data(), *const end = begin + field.size();
  float value = 0;
  auto const [stop, error] = std::from_chars(begin, end, value);
  if (error == std::errc::invalid_argument || stop != end) return {CsvNumber::none, 0};
  if (error == std::errc{}) return {std::isfinite(value) ? CsvNumber::some : CsvNumber::beyond, value};
  // Too small for a float means zero or nearly zero, too large is an error; from_chars does not say which it was.
  double wide = 0;
  if (std::from_chars(begin, end, wide).ec != std::errc{} || std::abs(wide) > 1) return {CsvNumber::beyond, 0};
  return {CsvNumber::some, static_cast<float>(wide)};
}

CsvRows::CsvRows(std::string const& path, ReadOptions options, CsvDialect dialect)
    : source_(path, options), dialect_(dialect) {
  waiting_ = next_line();
  if (!waiting_) return;
  auto const texts = std::ranges::count_if(
      fields_, [](std::string_view field) { return parse_number(field).kind == CsvNumber::none; });
  bool const no_number = static_cast<std::size_t>(texts) == fields_.size();
  in_doubt_ = !dialect_.header && texts > 0 && !no_number;
  if (!dialect_.header.value_or(no_number)) return;
  names_.assign(fields_.begin(), fields_.end());
  waiting_ = false;
}

bool CsvRows::next() {
  if (std::exchange(waiting_, false)) return true;
  return next_line();
}

bool CsvRows::next_line() {
  std::size_t blank_line = 0;
  while (auto const line = read_line()) {
    if (trimmed(*line).empty()) {
      blank_line = blank_line ? blank_line : number_;
      continue;
    }
    // Blank lines are allowed only at the end of the file.
    if (blank_line) source_.malformed("line " + std::to_string(blank_line) + " is empty");
    split(*line);
    if (columns_ == 0) columns_ = fields_.size();
    if (fields_.size() != columns_)
      malformed(fields_.size() - 1, "the line ends here, with " + counted(fields_.size(), "field") +
                                        ", but the first line has " + std::to_string(columns_));
    return true;
  }
  return false;
}

std::optional<std::string_view> CsvRows::read_line() {
  auto const finish = [&] {
    std::string_view line = line_;
    if (number_++ == 0 && line.starts_with("\xef\xbb\xbf")) line.remove_prefix(3);
    if (line.ends_with('\r')) line.remove_suffix(1);
    return line;
  };
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

void CsvRows::split(std::string_view text) {
  fields_.clear(), unquoted_.clear();
  for (bool ended = false; !ended;) {
    auto end = text.find(dialect_.delimiter);
    std::string_view field = trimmed(text.substr(0, end));
    if (field.starts_with('"')) {
      std::string content;
      std::size_t begin = text.find('"') + 1, close;
      for (;; begin = close + 2) {  // a quote within a field is doubled
        close = text.find('"', begin);
        if (close == std::string_view::npos) malformed(fields_.size(), "the closing quote is missing");
        content += text.substr(begin, close - begin);
        if (!text.substr(close + 1).starts_with('"')) break;
        content += '"';
      }
      end = text.find(dialect_.delimiter, close);
      if (!trimmed(text.substr(close + 1, end == std::string_view::npos ? end : end - close - 1)).empty())
        malformed(fields_.size(), "there is text after the closing quote");
      field = trimmed(unquoted_.emplace_back(std::move(content)));
    }
    fields_.push_back(field);
    ended = end == std::string_view::npos;
    if (!ended) text.remove_prefix(end + 1);
  }
}

std::string CsvRows::options_for_text(std::size_t column) const {
  if (dialect_.ignore_option.empty()) return "";
  bool const plain = !names_.empty() && !names_[column].empty() && names_[column].size() <= 40 &&
                     std::ranges::all_of(names_[column], [](char c) { return is_letter(c) || c == '_'; });
  std::string const name = plain ? names_[column] : std::to_string(column + 1);
  auto const option = [&](std::string_view of) { return std::string{of} + "=" + name; };
  std::string const classes = dialect_.class_option.empty()
                                  ? "the option "
                                  : "the option " + option(dialect_.class_option) + " makes classes of texts, and ";
  return "; " + classes + option(dialect_.ignore_option) + " leaves the column out";
}

std::string_view CsvRows::text(std::size_t column) const {
  if (fields_[column].empty()) malformed(column, "the field is empty");
  return fields_[column];
}

float CsvRows::number(std::size_t column) const {
  std::string_view const field = text(column);
  CsvNumber const number = parse_number(field);
  if (number.kind == CsvNumber::none) {
    bool const doubtful = number_ == 1 && in_doubt_;
    malformed(column, printable(field) + " is not a number" +
                          (doubtful              ? std::string{dialect_.doubt}
                           : is_letter(field[0]) ? options_for_text(column)
                                                 : ""));
  }
  if (number.kind == CsvNumber::beyond) malformed(column, printable(field) + " is not a finite float");
  return number.value;
}

void CsvRows::malformed(std::size_t column, std::string const& sentence) const {
  bool const named = column < names_.size() && number_ > 1;
  source_.malformed("line " + std::to_string(number_) + ", column " + std::to_string(column + 1) +
                    (named ? " (" + printable(names_[column]) + ")" : "") + ": " + sentence);
}

}  // namespace coldpress::data
