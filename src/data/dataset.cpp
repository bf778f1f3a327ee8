#include <coldpress/data/dataset.hpp>

#include "held_out.hpp"

#include <coldpress/data/csv.hpp>
#include <coldpress/data/idx.hpp>
#include <coldpress/data/npy.hpp>
#include <coldpress/data/sample_stream.hpp>
#include <coldpress/data/source.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
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

struct Format {
  std::string_view name, argument;  // paths, separated by commas
  std::vector<std::string> (*files)(std::vector<std::string> const& paths);
  Dataset (*open)(std::vector<std::string> const& files, ReadOptions);
};
constexpr Format formats[] = {{"mnist", "DIR", mnist_files<training_names>, open_mnist},
                              {"mnist-test", "DIR", mnist_files<test_names>, open_mnist},
                              {"csv", "FILE", themselves, open_csv},
                              {"npy", "X,Y", themselves, open_npy}};

struct Spec {
  Format const& format;
  std::vector<std::string> paths;
};

Spec parse(std::string const& spec) {
  std::string known;
  for (Format const& format : formats) {
    std::string const prefix = std::string{format.name} + ":";
    known += (known.empty() ? "" : ", ") + prefix + std::string{format.argument};
    if (!spec.starts_with(prefix) || spec.size() == prefix.size()) continue;
    std::string const paths = spec.substr(prefix.size());
    if (format.argument.find(',') == std::string_view::npos) return {format, {paths}};
    auto const comma = paths.find(',');
    if (comma == 0 || comma == std::string::npos || comma + 1 == paths.size() ||
        paths.find(',', comma + 1) != std::string::npos)
      throw ConfigError{"'" + paths + "' does not name two files with one comma between them, as in " + prefix +
                        std::string{format.argument}};
    return {format, {paths.substr(0, comma), paths.substr(comma + 1)}};
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

Dataset open(std::string const& spec, ReadOptions options) {
  auto const [format, paths] = parse(spec);
  return format.open(format.files(paths), options);
}

std::unique_ptr<Source> open_source(std::string const& spec, ReadOptions options) { return own(open(spec, options)); }

std::vector<std::string> files_of(std::string const& spec) {
  auto const [format, paths] = parse(spec);
  return format.files(paths);
}

std::string from_folder(std::string const& folder, std::string const& spec) {
  auto const [format, paths] = parse(spec);
  if (paths.size() > 1 && folder.find(',') != std::string::npos)
    throw ConfigError{
        "the folder '" + folder +
        "' has a comma in its name, where a comma separates the names of files; give the data with --data"};
  std::string result{format.name};
  char before = ':';
  for (std::string const& path : paths) {
    result += std::exchange(before, ',');
    result += (fs::path{folder} / path).string();
  }
  return result;
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
