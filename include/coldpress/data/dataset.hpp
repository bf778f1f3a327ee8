// Data sets: samples with their targets, and readers for the formats they come in.
#pragma once

#include <coldpress/data/read_options.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace coldpress::data {

/// The largest number of classes: labels are floats, which skip whole numbers beyond this.
inline constexpr Index most_classes = Index{1} << 24;

/// Row-major values, one sample after another. The target of a classification is the class number, with shape {1}.
struct Dataset {
  Shape sample_shape{}, target_shape{};
  std::vector<float> samples{}, targets{};
  std::vector<std::string> classes{};  // if the targets are labels with names: the names, by label

  Index size() const { return samples.empty() ? 0 : static_cast<Index>(samples.size()) / sample_shape.size(); }
  std::span<float const> sample(Index i) const { return row(samples, sample_shape, i); }
  std::span<float const> target(Index i) const { return row(targets, target_shape, i); }
  /// `count` samples from `first` on, for a forward pass over all of them.
  std::span<float const> samples_from(Index first, Index count) const {
    return row(samples, sample_shape, first, count);
  }

 private:
  static std::span<float const> row(std::vector<float> const& values, Shape const& shape, Index i, Index count = 1) {
    return {values.data() + i * shape.size(), static_cast<std::size_t>(count * shape.size())};
  }
};

/// Throws ShapeError unless the vectors hold whole samples and whole targets, equally many and at least one. There are
/// no targets at all if their shape is {}.
void check(Dataset const& dataset);

/// Reads the data that `spec` names, FORMAT:FILES: mnist:DIR, cifar10:DIR, images:DIR, csv:FILE, npy:X,Y, npz:FILE,
/// hdf5:FILE,... and others; spec_help() explains them all. A spec may end with options, which begin at its last
/// question mark, as in hdf5:train.h5?x=data&y=label. In double quotes, an element of a list may have commas, as in
/// csv:t.csv?ignore="price, net",id. Throws ConfigError for any other spec, or a column that is not
/// there; FileError, FormatError, DataError if a value is not finite; and UnsupportedError for a format whose component
/// is not linked.
Dataset open(std::string const& spec, ReadOptions options = {});

/// A format of specs with its options, for a user.
struct SpecHelp {
  struct Option {
    std::string name, meaning;
  };
  std::string spec, meaning;  // for example "csv:FILE"
  std::vector<Option> options;
  std::string name;         // of the format, without the colon
  bool takes_list = false;  // whether commas separate files
};
std::vector<SpecHelp> spec_help();
/// The spec with these options, name and value, unless it has others of the same name. Throws ConfigError as open does.
std::string with_defaults(std::string const& spec, std::span<std::pair<std::string, std::string> const> options);
/// The names as an option takes a list of them: with commas in between, and in quotes where that is necessary.
std::string list_for_option(std::span<std::string const> names);
/// Whether a text begins like a spec, with the name of a format and a colon.
bool is_spec(std::string const& text);
/// The spec that is meant by a text that only names a file, with or without options: csv:a.csv for a.csv. Empty if the
/// file's ending does not say it.
std::string spec_for(std::string const& text);

/// The files that open(spec) may read. For MNIST these are both names of each file, plain and .gz. Throws ConfigError
/// as open does.
std::vector<std::string> files_of(std::string const& spec);
/// The same spec with relative paths resolved against `folder`. The relative paths in a config are resolved against the
/// config's own folder. Throws ConfigError as open does.
std::string from_folder(std::string const& folder, std::string const& spec);

struct Split {
  Dataset training, held_out;
};

/// Holds out `fraction` of the samples, drawn at random. The draw depends on the seed and not on the values. Each part
/// keeps the drawn order. Throws ConfigError unless both parts get at least one sample.
Split split(Dataset const& dataset, double fraction, std::uint64_t seed);

}  // namespace coldpress::data
