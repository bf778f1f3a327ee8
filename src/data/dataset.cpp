#include <coldpress/data/dataset.hpp>

#include "hdf5_opener.hpp"
#include "held_out.hpp"
#include "input_file.hpp"

#include <coldpress/data/csv.hpp>
#include <coldpress/data/idx.hpp>
#include <coldpress/data/npy.hpp>
#include <coldpress/data/sample_stream.hpp>
#include <coldpress/data/source.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <functional>
#include <map>
#include <string_view>
#include <utility>

namespace coldpress::data {
namespace {

template <class Failure>
[[noreturn]] void fail_in(std::string const& file, std::string const& sentence) {
  Failure error{sentence};
  error.in_file(file);
  throw error;
}

std::string counted(std::size_t n, char const* what) { return std::to_string(n) + " " + what + (n == 1 ? "" : "s"); }

/// The shape of one sample of an array whose first extent is the number of samples.
Shape sample_shape(std::vector<Index> const& extents, std::string const& file) {
  if (extents.empty() || extents.size() > Shape::max_rank + 1)
    fail_in<FormatError>(file, "has " + counted(extents.size(), "extent") + ", expected 1 to 9, samples first");
  if (std::ranges::count(extents, 0) > 0) fail_in<FormatError>(file, "contains no values");
  Shape shape{};
  if (extents.size() == 1) shape.extents[0] = 1;
  std::copy(extents.begin() + 1, extents.end(), shape.extents);
  with_context([&] { return shape.size(); }, [&](Error& error) { error.in_file(file); });
  return shape;
}

namespace fs = std::filesystem;

/// The file names that open_mnist looks for in a folder.
using Names = std::array<char const*, 2>;
constexpr Names training_names{"train-images-idx3-ubyte", "train-labels-idx1-ubyte"},
    test_names{"t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"};

template <Names const& names>
std::vector<std::string> mnist_files(std::vector<std::string> const& folder) {
  std::vector<std::string> files;
  for (char const* name : names)
    for (char const* end : {"", ".gz"}) files.push_back((fs::path{folder[0]} / name).string() + end);
  return files;
}

std::string const& that_exists(std::string const& plain, std::string const& compressed) {
  std::error_code ignored;
  return fs::exists(plain, ignored) || !fs::exists(compressed, ignored) ? plain : compressed;
}

Dataset open_mnist(std::vector<std::string> const& files, ReadOptions options) {
  std::string const &images_file = that_exists(files[0], files[1]), &labels_file = that_exists(files[2], files[3]);
  IdxArray const images = read_idx(images_file, 3, options), labels = read_idx(labels_file, 1, options);
  Dataset dataset;
  dataset.sample_shape = sample_shape(images.extents, images_file);
  dataset.target_shape = sample_shape(labels.extents, labels_file);
  if (labels.extents[0] != images.extents[0])
    fail_in<FormatError>(labels_file, "holds " + counted(labels.values.size(), "label") + " for the " +
                                          std::to_string(images.extents[0]) + " images of " + images_file);
  dataset.samples.resize(images.values.size());
  std::ranges::transform(images.values, dataset.samples.begin(),
                         [](std::uint8_t pixel) { return static_cast<float>(pixel) / 255; });
  dataset.targets.assign(labels.values.begin(), labels.values.end());
  return dataset;
}

Dataset open_csv(std::vector<std::string> const& files, ReadOptions options) {
  std::string const& file = files[0];
  CsvTable const table = read_csv(file, options);
  if (table.columns < 2) fail_in<FormatError>(file, "has one column, expected a target and at least one feature");
  Dataset dataset{{{table.columns - 1}}, {{1}}, {}, {}};
  dataset.samples.reserve(static_cast<std::size_t>(table.rows() * (table.columns - 1)));
  dataset.targets.reserve(static_cast<std::size_t>(table.rows()));
  for (auto row = table.values.begin(); row != table.values.end(); row += table.columns) {
    dataset.targets.push_back(*row);
    dataset.samples.insert(dataset.samples.end(), row + 1, row + table.columns);
  }
  return dataset;
}

NpyArray open_finite(std::string const& file, ReadOptions options) {
  NpyArray array = read_npy(file, options);
  auto const bad = std::ranges::find_if_not(array.values, [](float value) { return std::isfinite(value); });
  if (bad != array.values.end())
    fail_in<DataError>(file, "value " + std::to_string(bad - array.values.begin()) + " is " + std::to_string(*bad) +
                                 ", expected finite values");
  return array;
}

Dataset open_npy(std::vector<std::string> const& files, ReadOptions options) {
  std::string const &x_file = files[0], &y_file = files[1];
  NpyArray x = open_finite(x_file, options), y = open_finite(y_file, options);
  Dataset dataset{sample_shape(x.extents, x_file), sample_shape(y.extents, y_file), std::move(x.values),
                  std::move(y.values)};
  if (x.extents[0] != y.extents[0])
    fail_in<FormatError>(y_file, "holds " + counted(static_cast<std::size_t>(y.extents[0]), "target") + " for the " +
                                     std::to_string(x.extents[0]) + " samples of " + x_file);
  return dataset;
}

std::vector<std::string> themselves(std::vector<std::string> const& paths) { return paths; }

/// The options at the end of a spec.
using SpecOptions = std::map<std::string, std::string, std::less<>>;

Index count_in(SpecOptions const& options, std::string_view name) {
  auto const found = options.find(name);
  if (found == options.end()) return 0;
  Index value = 0;
  auto const [end, error] = std::from_chars(found->second.data(), found->second.data() + found->second.size(), value);
  if (error != std::errc{} || *end != '\0' || value < 1)
    throw ConfigError{"the option " + found->first + " is '" + found->second + "', expected a whole number from 1 on"};
  return value;
}
std::string text_in(SpecOptions const& options, std::string_view name, std::string const& otherwise) {
  auto const found = options.find(name);
  return found == options.end() ? otherwise : found->second;
}

/// The files that a list names, one in each line, relative to its folder.
std::vector<std::string> files_in_list(std::string const& list) {
  InputFile input{list, {}};
  std::string text, piece(4096, '\0');
  while (std::size_t const got = input.read(std::as_writable_bytes(std::span{piece}))) {
    text.append(piece, 0, got);
    if (text.size() > std::size_t{1} << 24) input.malformed("is longer than 2^24 bytes, expected a list of files");
  }
  std::vector<std::string> files;
  for (std::size_t begin = 0; begin < text.size();) {
    std::size_t const end = std::min(text.find('\n', begin), text.size());
    std::string name = text.substr(begin, end - begin);
    if (name.ends_with('\r')) name.pop_back();
    if (!name.empty()) files.push_back((fs::path{list}.parent_path() / name).string());
    begin = end + 1;
  }
  if (files.empty()) input.malformed("names no file");
  return files;
}

/// Files, where one whose name ends in .txt is a list of others.
std::vector<std::string> data_files(std::vector<std::string> const& paths) {
  std::vector<std::string> files;
  for (std::string const& path : paths) {
    auto const more = path.ends_with(".txt") ? files_in_list(path) : std::vector{path};
    files.insert(files.end(), more.begin(), more.end());
  }
  return files;
}
/// The same and the lists themselves; a list that cannot be read is one of the files.
std::vector<std::string> data_files_and_lists(std::vector<std::string> const& paths) {
  std::vector<std::string> files = paths;
  for (std::string const& path : paths) {
    if (!path.ends_with(".txt")) continue;
    try {
      auto const more = files_in_list(path);
      files.insert(files.end(), more.begin(), more.end());
    } catch (Error const&) {
    }
  }
  return files;
}

std::unique_ptr<Source> open_hdf5_spec(std::vector<std::string> const& paths, SpecOptions const& options) {
  if (!hdf5_opener()) throw UnsupportedError{"this program reads no HDF5 files: it was built without coldpress::hdf5"};
  return hdf5_opener()({data_files(paths), text_in(options, "x", "data"), text_in(options, "y", "label"),
                        count_in(options, "block"), count_in(options, "shuffle")});
}

struct Format {
  std::string_view name, argument;  // paths, separated by commas
  std::string_view description;
  std::vector<SpecHelp::Option> options;
  std::vector<std::string> (*files)(std::vector<std::string> const& paths);
  // One of these: the first reads all samples, the second opens files to read them as they are needed.
  Dataset (*open)(std::vector<std::string> const& files, ReadOptions);
  std::unique_ptr<Source> (*open_source)(std::vector<std::string> const& paths, SpecOptions const&);
};

/// THE LIST of formats, from which specs are parsed and explained.
std::span<Format const> formats() {
  static Format const all[] = {
      {"mnist",
       "DIR",
       "the training set of IDX files in DIR, plain or .gz: pixels in [0, 1], class as target",
       {},
       mnist_files<training_names>,
       open_mnist,
       nullptr},
      {"mnist-test", "DIR", "the test set beside it", {}, mnist_files<test_names>, open_mnist, nullptr},
      {"csv", "FILE", "the first column is the target, the others are the sample", {}, themselves, open_csv, nullptr},
      {"npy", "X,Y", "two arrays, {N, ...} samples and {N} or {N, ...} targets", {}, themselves, open_npy, nullptr},
      {"hdf5",
       "FILE,...",
       "datasets of HDF5 files, read as they are needed; a file that ends in .txt lists other files, one per line",
       {{"x", "the dataset of the samples, {N, ...}; default: data"},
        {"y", "the dataset of the targets, {N} or {N, ...}; default: label"},
        {"block", "samples that are read together; default: whole chunks, about 1 MiB"},
        {"shuffle", "samples that are shuffled together; default: as many as fit in 32 MiB"}},
       data_files_and_lists,
       nullptr,
       open_hdf5_spec}};
  return all;
}

struct Spec {
  Format const& format;
  std::vector<std::string> paths;
  std::string options_text;  // with its question mark
  SpecOptions options;
};

SpecOptions parse_options(Format const& format, std::string_view text) {
  SpecOptions options;
  while (!text.empty()) {
    std::string_view const part = text.substr(0, text.find('&'));
    text.remove_prefix(std::min(part.size() + 1, text.size()));
    auto const equals = part.find('=');
    std::string const name{part.substr(0, equals)};
    std::string known;
    for (auto const& option : format.options) known += (known.empty() ? "" : ", ") + std::string{option.name};
    if (std::ranges::find(format.options, name, &SpecHelp::Option::name) == format.options.end())
      throw ConfigError{std::string{format.name} + ": has no option '" + name + "'" +
                        (known.empty() ? ", since it has none" : "; it has " + known) +
                        ". If the '?' is part of a file's name, end the data with another '?'"};
    if (equals == std::string_view::npos || equals + 1 == part.size())
      throw ConfigError{"the option '" + name + "' has no value, as in " + name + "=VALUE"};
    if (!options.emplace(name, part.substr(equals + 1)).second)
      throw ConfigError{"the option '" + name + "' is given twice"};
  }
  return options;
}

Spec parse(std::string const& spec) {
  std::string known;
  for (Format const& format : formats()) {
    std::string const prefix = std::string{format.name} + ":";
    known += (known.empty() ? "" : ", ") + prefix + std::string{format.argument};
    if (!spec.starts_with(prefix) || spec.size() == prefix.size()) continue;
    auto const question = spec.find_last_of('?');
    std::string const options = question == std::string::npos ? "" : spec.substr(question);
    std::string const paths = spec.substr(prefix.size(), spec.size() - options.size() - prefix.size());
    Spec parsed{format, {}, options, parse_options(format, std::string_view{options}.substr(!options.empty()))};
    if (format.argument.find(',') == std::string_view::npos) {
      parsed.paths = {paths};
    } else {
      for (std::size_t begin = 0; begin <= paths.size();) {
        std::size_t const end = std::min(paths.find(',', begin), paths.size());
        parsed.paths.push_back(paths.substr(begin, end - begin));
        begin = end + 1;
      }
    }
    bool const any_number = format.argument.ends_with("...");
    if (format.argument.find(',') != std::string_view::npos && !any_number &&
        (parsed.paths.size() != 2 || std::ranges::count(parsed.paths, "") > 0))
      throw ConfigError{"'" + paths + "' does not name two files with one comma between them, as in " + prefix +
                        std::string{format.argument}};
    if (std::ranges::count(parsed.paths, "") > 0)
      throw ConfigError{"'" + spec + "' has no name of a file where one is expected, as in " + prefix +
                        std::string{format.argument}};
    return parsed;
  }
  throw ConfigError{"the data '" + spec + "' is not one of " + known};
}

}  // namespace

void check(Dataset const& dataset) {
  auto const rows = [](std::vector<float> const& values, Shape const& shape, std::string const& what) {
    auto const size = static_cast<std::size_t>(shape.size());
    if (size == 0 || values.empty() || values.size() % size != 0)
      throw ShapeError{"the dataset has " + counted(values.size(), "value") + " of " + what +
                       ", expected a multiple of " + to_string(shape)};
    return values.size() / size;
  };
  auto const samples = rows(dataset.samples, dataset.sample_shape, "samples"),
             targets = rows(dataset.targets, dataset.target_shape, "targets");
  if (samples != targets)
    throw ShapeError{"the dataset has " + counted(samples, "sample") + " and " + counted(targets, "target")};
}

std::unique_ptr<Source> open_source(std::string const& spec, ReadOptions options) {
  Spec const parsed = parse(spec);
  Format const& format = parsed.format;
  if (format.open_source) return format.open_source(parsed.paths, parsed.options);
  return own(format.open(format.files(parsed.paths), options));
}

Dataset open(std::string const& spec, ReadOptions options) {
  Spec const parsed = parse(spec);
  Format const& format = parsed.format;
  if (format.open) return format.open(format.files(parsed.paths), options);
  return load(*format.open_source(parsed.paths, parsed.options));
}

std::vector<std::string> files_of(std::string const& spec) {
  Spec const parsed = parse(spec);
  return parsed.format.files(parsed.paths);
}

std::string from_folder(std::string const& folder, std::string const& spec) {
  Spec const parsed = parse(spec);
  if (parsed.paths.size() > 1 && folder.find(',') != std::string::npos)
    throw ConfigError{
        "the folder '" + folder +
        "' has a comma in its name, where a comma separates the names of files; give the data with --data"};
  std::string result{parsed.format.name};
  char before = ':';
  for (std::string const& path : parsed.paths) {
    result += std::exchange(before, ',');
    result += (fs::path{folder} / path).string();
  }
  return result + parsed.options_text;
}

std::vector<SpecHelp> spec_help() {
  std::vector<SpecHelp> help;
  for (Format const& format : formats())
    help.push_back({std::string{format.name} + ":" + std::string{format.argument}, std::string{format.description},
                    format.options});
  return help;
}

Hdf5Opener& hdf5_opener() {
  static constinit Hdf5Opener opener = nullptr;
  return opener;
}

Split split(Dataset const& dataset, double fraction, std::uint64_t seed) {
  check(dataset);
  auto const size = static_cast<std::size_t>(dataset.size());
  auto const held_out = static_cast<std::size_t>(held_out_count(dataset.size(), fraction));
  std::vector<Index> order(size);
  // An epoch number that no training reaches.
  shuffle(order, seed, ~std::uint64_t{0});
  auto const gather = [&](std::span<Index const> rows) {
    Dataset part{dataset.sample_shape, dataset.target_shape, {}, {}, dataset.classes};
    part.samples.reserve(rows.size() * static_cast<std::size_t>(dataset.sample_shape.size()));
    part.targets.reserve(rows.size() * static_cast<std::size_t>(dataset.target_shape.size()));
    for (Index const row : rows) {
      auto const sample = dataset.sample(row), target = dataset.target(row);
      part.samples.insert(part.samples.end(), sample.begin(), sample.end());
      part.targets.insert(part.targets.end(), target.begin(), target.end());
    }
    return part;
  };
  return {gather(std::span{order}.subspan(held_out)), gather(std::span{order}.first(held_out))};
}

}  // namespace coldpress::data
