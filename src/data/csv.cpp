// Makes a data set of a table: finds the columns of samples and targets, and numbers classes that are texts.
#include <coldpress/data/csv.hpp>

#include "csv_rows.hpp"
#include "formats.hpp"

#include <coldpress/core/layer.hpp>

#include <algorithm>
#include <charconv>
#include <map>
#include <memory>
#include <numeric>

namespace coldpress::data {
namespace {

constexpr std::size_t most_texts = std::size_t{1} << 16;  // of labels; more of them are no classes

/// The labels of all rows: texts, until it is known whether they are the numbers of the classes.
class Labels {
 public:
  explicit Labels(std::vector<std::string> const& classes) : given_(!classes.empty()) {
    for (std::string const& name : classes) add(name);
  }

  void add(CsvRows const& rows, std::size_t column) {
    std::string_view const text = rows.text(column);
    auto const known = numbers_.find(text);
    if (known == numbers_.end() && given_)
      rows.malformed(column, printable(text) + " is none of the classes in the option classes");
    if (known == numbers_.end() && texts_.size() == most_texts)
      rows.malformed(column, "there are more than " + std::to_string(most_texts) +
                                 " different labels; numbers to be predicted are named by the option targets");
    labels_.push_back(known == numbers_.end() ? add(text) : known->second);
  }

  std::string const& first() const { return texts_[labels_[0]]; }
  /// Whether the first label is a text that occurs only once, while another label occurs more than once.
  bool first_is_alone() const {
    if (given_ || labels_.empty() || parse_number(texts_[0]).kind != CsvNumber::none) return false;
    std::vector<int> count(texts_.size());
    for (std::size_t const label : labels_) ++count[label];
    return count[0] == 1 && std::ranges::any_of(count, [](int n) { return n > 1; });
  }

  /// Classes have names unless they are whole numbers from 0 on.
  void put(Dataset& dataset) const {
    std::vector<float> value(texts_.size());
    bool const are_numbers = !given_ && std::ranges::all_of(texts_, [](std::string const& text) {
      CsvNumber const number = parse_number(text);
      return number.kind == CsvNumber::some && is_label(number.value, most_classes);
    });
    if (are_numbers) {
      std::ranges::transform(texts_, value.begin(), [](std::string const& text) { return parse_number(text).value; });
    } else if (given_) {
      std::iota(value.begin(), value.end(), 0.0f);
      dataset.classes = texts_;
    } else {
      for (auto const& [text, number] : numbers_) {  // sorted
        value[number] = static_cast<float>(dataset.classes.size());
        dataset.classes.push_back(text);
      }
    }
    for (std::size_t const label : labels_) dataset.targets.push_back(value[label]);
  }

 private:
  std::size_t add(std::string_view text) {
    texts_.emplace_back(text);
    return numbers_[texts_.back()] = texts_.size() - 1;
  }

  bool given_;
  std::map<std::string, std::size_t, std::less<>> numbers_;
  std::vector<std::string> texts_;
  std::vector<std::size_t> labels_;
};

/// The column with this name, or else with this number.
std::size_t column_called(std::string const& wanted, CsvRows const& rows) {
  auto const& names = rows.names();
  auto const found = std::ranges::find(names, wanted);
  if (found != names.end()) {
    if (std::find(found + 1, names.end(), wanted) != names.end())
      throw ConfigError{"has two columns called " + printable(wanted)};
    return static_cast<std::size_t>(found - names.begin());
  }
  std::size_t number = 0;
  auto const [end, error] = std::from_chars(wanted.data(), wanted.data() + wanted.size(), number);
  if (error == std::errc{} && end == wanted.data() + wanted.size() && number >= 1 && number <= rows.columns())
    return number - 1;
  std::string known = "1 to " + std::to_string(rows.columns());
  for (std::size_t i = 0; i < std::min<std::size_t>(names.size(), 20); ++i)
    known += (i == 0 ? ", called " : ", ") + printable(names[i]);
  throw ConfigError{"has no column " + printable(wanted) + "; it has " + known};
}

/// What to say of a table of one column whose fields seem to be separated otherwise.
std::string other_delimiter(CsvRows const& rows) {
  auto const at = rows.first_field().find_first_of(";\t|");
  if (at == std::string_view::npos) return "";
  char const found = rows.first_field()[at];
  std::string const name = found == '\t' ? "tab" : std::string{found};
  return "; if a " + name + " separates its fields, add the option delimiter=" + name;
}

/// What the columns of a table are.
struct Columns {
  std::vector<std::size_t> samples, targets;
  bool has_labels;

  Columns(CsvRows const& rows, SpecOptions const& options) : has_labels(options.has("label")) {
    if (has_labels && options.has("targets"))
      throw ConfigError{"the options label and targets exclude each other: a label is a class, targets are numbers"};
    if (!has_labels && options.has("classes"))
      throw ConfigError{"the option classes has no meaning without the option label"};
    std::vector<bool> used(rows.columns());
    auto const use = [&](std::vector<std::string> const& names) {
      std::vector<std::size_t> columns;
      for (std::string const& name : names) {
        columns.push_back(column_called(name, rows));
        if (used[columns.back()]) throw ConfigError{"the column " + printable(name) + " is named twice in the options"};
        used[columns.back()] = true;
      }
      return columns;
    };
    use(options.list("ignore"));
    if (has_labels) {
      targets = use({options.text("label", "")});
    } else if (options.text("targets", "") == "none" && std::ranges::find(rows.names(), "none") == rows.names().end()) {
      // All columns belong to the sample.
    } else if (options.has("targets")) {
      targets = use(options.list("targets"));
    } else {
      auto const first = static_cast<std::size_t>(std::ranges::find(used, false) - used.begin());
      if (first < used.size()) targets = {first}, used[first] = true;
    }
    for (std::size_t i = 0; i < used.size(); ++i)
      if (!used[i]) samples.push_back(i);
    if (samples.empty() && rows.columns() == 1 && !targets.empty())
      rows.file().malformed("has one column, expected a target and at least one feature" + other_delimiter(rows));
    if (samples.empty()) throw ConfigError{"has no column left for the samples"};
  }
};

CsvDialect dialect_of(SpecOptions const& options) {
  CsvDialect dialect;
  std::string const delimiter = options.text("delimiter", ",");
  constexpr std::string_view of_fields = "\"+-.0123456789 ";
  bool const letter = delimiter.size() == 1 && (static_cast<unsigned char>(delimiter[0]) | 32) >= 'a' &&
                      (static_cast<unsigned char>(delimiter[0]) | 32) <= 'z';
  bool const control = delimiter.size() == 1 && (static_cast<unsigned char>(delimiter[0]) < ' ' ||
                                                 static_cast<unsigned char>(delimiter[0]) > 126);
  if (delimiter == "tab" || delimiter == "\t")
    dialect.delimiter = '\t';
  else if (delimiter.size() != 1 || of_fields.find(delimiter[0]) != std::string_view::npos || letter || control)
    throw ConfigError{"the option delimiter is " + printable(delimiter) +
                      ", expected tab, or one character that is no part of a number, such as ;"};
  else
    dialect.delimiter = delimiter[0];
  if (options.has("header")) dialect.header = options.flag("header", false);
  if (!options.has("label") && !options.has("targets")) dialect.class_option = "label";
  dialect.ignore_option = "ignore";
  dialect.doubt = "; if this line has the names of the columns, add the option header=1";
  return dialect;
}

}  // namespace

CsvTable read_csv(std::string const& path, ReadOptions options) {
  auto const rows = std::make_unique<CsvRows>(path, options, CsvDialect{});
  CsvTable table;
  table.names = rows->names();
  for (std::size_t i = 0; i < table.names.size(); ++i)
    if (table.names[i].empty()) rows->malformed(i, "the field is empty");
  table.columns = static_cast<Index>(rows->columns());
  while (rows->next())
    for (std::size_t i = 0; i < rows->columns(); ++i) table.values.push_back(rows->number(i));
  if (table.values.empty()) rows->file().malformed("has no row of numbers");
  return table;
}

Opened open_csv(Request const& request) {
  std::string const& path = request.paths[0];
  auto const classes = request.options.list("classes");
  check_classes(classes);
  auto const rows = std::make_unique<CsvRows>(path, request.reading, dialect_of(request.options));
  if (rows->columns() == 0) rows->file().malformed("has no row of numbers");
  Columns const columns = with_file(path, [&] { return Columns{*rows, request.options}; });
  Dataset dataset{{{static_cast<Index>(columns.samples.size())}}, {{static_cast<Index>(columns.targets.size())}}};
  Labels labels{classes};
  while (rows->next()) {
    for (std::size_t const column : columns.targets) {
      if (columns.has_labels)
        labels.add(*rows, column);
      else
        dataset.targets.push_back(rows->number(column));
    }
    for (std::size_t const column : columns.samples) dataset.samples.push_back(rows->number(column));
  }
  if (dataset.samples.empty()) rows->file().malformed("has no row of numbers");
  if (columns.has_labels && rows->in_doubt() && labels.first_is_alone())
    rows->file().malformed("line 1 has numbers and a label that no other line has, " + printable(labels.first()) +
                           "; say by the option header=1 that it has the names of the columns, or by header=0 that it "
                           "is a row");
  if (columns.has_labels) labels.put(dataset);
  return dataset;
}

}  // namespace coldpress::data
