// The list of data formats, and the parser of texts such as "csv:points.csv?header" that name data.
#include "formats.hpp"

#include <coldpress/data/npy.hpp>

#include <algorithm>
#include <filesystem>
#include <utility>

namespace coldpress::data {
namespace {

namespace fs = std::filesystem;

struct Format {
  std::string_view name, argument;
  std::size_t least, most;  // paths; if several are possible, commas separate them
  std::string_view description;
  std::vector<SpecHelp::Option> options;
  std::vector<std::string> (*files)(std::vector<std::string> const& paths);
  Opened (*open)(Request const&);
  std::string_view ending = {};  // that the name of a file has which is of this format and of no other
};

std::vector<std::string> themselves(std::vector<std::string> const& paths) { return paths; }

Opened open_npy_files(Request const& request) {
  auto const& paths = request.paths;
  bool const targets = paths.size() > 1 && !request.samples_alone;
  return open_npy(paths[0], targets ? std::optional{paths[1]} : std::nullopt, request.reading);
}
Opened open_npz_file(Request const& request) {
  auto const names = [&](std::string const& option) {
    if (!request.options.has(option)) return std::vector{option};
    auto given = request.options.list(option);
    if (std::ranges::count(given, "") > 0)
      throw ConfigError{"the option '" + option + "' has an empty name; it names arrays, as in " + option +
                        "=NAME,NAME"};
    return given;
  };
  auto const targets = request.samples_alone ? std::vector<std::string>{} : names("y");
  return open_npz(request.paths[0], names("x"), targets, request.reading);
}

template <Part part>
Format mnist(std::string_view name, std::string_view description) {
  return {name,
          "DIR",
          1,
          1,
          description,
          {},
          [](auto const& paths) { return mnist_files(part, paths[0]); },
          [](Request const& request) { return open_mnist(part, request); }};
}
template <Cifar kind, Part part>
Format cifar(std::string_view name, std::string_view description, std::vector<SpecHelp::Option> options = {}) {
  return {name,
          "DIR",
          1,
          1,
          description,
          std::move(options),
          [](auto const& paths) { return cifar_files(kind, part, paths[0]); },
          [](Request const& request) { return open_cifar(kind, part, request); }};
}

/// THE LIST of formats, from which specs are parsed and explained.
std::span<Format const> formats() {
  using enum Part;
  constexpr std::size_t any = ~std::size_t{0};
  static SpecHelp::Option const coarse{"labels", "fine (100 classes) or coarse (20 classes); default: fine"};
  static SpecHelp::Option const classes{
      "classes",
      "the names of the classes in the order of their numbers, separated by commas; default: those found, "
      "sorted by bytes"};
  static Format const all[] = {
      mnist<training>("mnist", "the training set of IDX files in DIR, plain or .gz: pixels in [0, 1], class as target"),
      mnist<test>("mnist-test", "the test set beside it"),
      cifar<Cifar::ten, training>("cifar10",
                                  "the five training batches of CIFAR-10's binary version in DIR, read as they are "
                                  "needed: pixels in [0, 1], {3, 32, 32}, class as target"),
      cifar<Cifar::ten, test>("cifar10-test", "the test batch beside them"),
      cifar<Cifar::hundred, training>("cifar100", "the same for CIFAR-100", {coarse}),
      cifar<Cifar::hundred, test>("cifar100-test", "its test set", {coarse}),
      {"images",
       "DIR",
       1,
       1,
       "a folder per class with PNG and JPEG files, decoded as they are needed: pixels in [0, 1], {channels, height, "
       "width}, class as target; predict also takes a picture, or a folder of them however deep",
       {{"width", "pixels to which pictures are resized; default: all have one size"},
        {"height", "the same"},
        {"channels", "3 (RGB) or 1 (grey); default: 3"},
        {"skip", "1: broken pictures are left out and counted, for which all are decoded first; default: 0, an error"},
        classes},
       themselves,
       open_image_folder},
      {"csv",
       "FILE",
       1,
       1,
       "the first column is the target, the others are the sample. Columns are named as in the header, or by numbers "
       "from 1 on",
       {{"label", "the column of the target; if it has text, each text is a class"},
        {"targets", "columns of targets, separated by commas, or none"},
        {"ignore", "columns to leave out, separated by commas"},
        {"header", "1 or 0: whether the first line has names; default: if none of its fields is a number"},
        {"delimiter", "the character between fields, or tab; default: a comma"},
        classes},
       themselves,
       open_csv,
       ".csv"},
      {"npy",
       "X,Y",
       1,
       2,
       "two arrays, {N, ...} samples and {N} or {N, ...} targets, read as they are needed; without targets: npy:X",
       {},
       themselves,
       open_npy_files,
       ".npy"},
      {"npz",
       "FILE",
       1,
       1,
       "arrays of one file; those that are not compressed are read as they are needed",
       {{"x",
         "the array of the samples, {N, ...}, or several, separated by commas, for a network that takes several; "
         "default: x, or, for such a network, the arrays that are called as its inputs"},
        {"y", "the array of the targets, {N} or {N, ...}, or several for the losses of a network; default: y"}},
       themselves,
       open_npz_file,
       ".npz"},
      {"hdf5",
       "FILE,...",
       1,
       any,
       "datasets of HDF5 files, read as they are needed; a file that ends in .txt lists other files, one per line",
       {{"x", "the dataset of the samples, {N, ...}; default: data"},
        {"y", "the dataset of the targets, {N} or {N, ...}; default: label"},
        {"block", "samples that are read together; default: whole chunks, about 1 MiB"},
        {"shuffle", "samples that are shuffled together; default: as many as fit in 32 MiB"}},
       files_and_lists,
       open_hdf5_files,
       ".h5"},
      {"sound",
       "INPUT,OUTPUT",
       2,
       2,
       "two WAV files of one channel, what goes into a device and what comes out of it, cut into segments: samples "
       "{run-in + length, 1} and targets {length, 1}",
       {{"length", "steps of a target; default: 8192"},
        {"run-in", "steps of a sample before them; default: 0"},
        {"delay", "steps by which the output is late, which are cut off, or find; default: 0"}},
       themselves,
       open_signals},
      {"text",
       "FILE",
       1,
       1,
       "the bytes of a file, from 0 to 255, and for each the next one as its target, for language models: samples "
       "{steps} and targets {steps, 1}",
       {{"steps", "bytes of a sample; default: 128"},
        {"stride", "bytes from the start of a sample to that of the next; default: as many as a sample has"}},
       themselves,
       open_text_file}};
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
    std::string_view const before = text.substr(0, text.find_first_of("&="));
    std::string const name{before};
    std::string known;
    for (auto const& option : format.options) known += (known.empty() ? "" : ", ") + std::string{option.name};
    if (std::ranges::find(format.options, name, &SpecHelp::Option::name) == format.options.end())
      throw ConfigError{std::string{format.name} + ": has no option '" + name + "'" +
                        (known.empty() ? ", since it has none" : "; it has " + known) +
                        ". If the '?' is part of a file's name, end the data with another '?'"};
    text.remove_prefix(before.size());
    bool const given = text.starts_with('=');
    text.remove_prefix(given);
    SpecValue value = with_context([&] { return take_value(text, "&"); },
                                   [&](Error& error) { error.in_field("the option '" + name + "'"); });
    if (!given || value.text.empty())
      throw ConfigError{"the option '" + name + "' has no value, as in " + name + "=VALUE"};
    if (!options.add(name, std::move(value))) throw ConfigError{"the option '" + name + "' is given twice"};
    text.remove_prefix(text.starts_with('&'));
  }
  return options;
}

/// Where options begin: at the last question mark that is not in quotes, or at the end. Quotes that do not pair are
/// ignored.
std::size_t begin_of_options(std::string_view spec) {
  auto const in_quotes = [&](std::size_t at) { return std::ranges::count(spec.substr(at), '"') % 2 != 0; };
  std::size_t at = spec.find_last_of('?');
  while (!in_quotes(0) && at != std::string_view::npos && in_quotes(at)) at = spec.find_last_of('?', at - 1);
  return std::min(at, spec.size());
}

Spec parse(std::string const& spec) {
  std::string known;
  for (Format const& format : formats()) {
    std::string const prefix = std::string{format.name} + ":", usage = prefix + std::string{format.argument};
    known += (known.empty() ? "" : ", ") + usage;
    if (!spec.starts_with(prefix)) continue;
    if (spec.size() == prefix.size()) throw ConfigError{"the data '" + spec + "' is not complete: write " + usage};
    std::string const options = spec.substr(begin_of_options(spec));
    std::string const paths = spec.substr(prefix.size(), spec.size() - options.size() - prefix.size());
    Spec parsed{format, {}, options, parse_options(format, std::string_view{options}.substr(!options.empty()))};
    std::string_view rest = paths;
    parsed.paths = format.most == 1 ? std::vector{paths} : take_value(rest, "").list;
    if (std::ranges::count(parsed.paths, "") > 0)
      throw ConfigError{"'" + spec + "' has no name of a file where one is expected, as in " + usage};
    if (parsed.paths.size() < format.least)
      throw ConfigError{"'" + paths + "' names " + std::to_string(parsed.paths.size()) + " file, expected " +
                        std::to_string(format.least) + ", as in " + usage};
    if (parsed.paths.size() > format.most)
      throw ConfigError{"'" + paths + "' names " + std::to_string(parsed.paths.size()) + " files, expected at most " +
                        std::to_string(format.most) + ", as in " + usage};
    return parsed;
  }
  std::string const meant = spec_for(spec);
  throw ConfigError{"the data '" + spec + "' is not one of " + known +
                    (meant.empty() ? "" : "; did you mean '" + meant + "'?")};
}

Opened opened(std::string const& spec, ReadOptions reading, bool samples_alone = false) {
  Spec parsed = parse(spec);
  return parsed.format.open({std::move(parsed.paths), std::move(parsed.options), reading, samples_alone});
}

std::unique_ptr<Source> as_source(Opened found) {
  if (auto* const dataset = std::get_if<Dataset>(&found)) return own(std::move(*dataset));
  return std::get<std::unique_ptr<Source>>(std::move(found));
}

}  // namespace

std::unique_ptr<Source> open_source(std::string const& spec, ReadOptions options) {
  return as_source(opened(spec, options));
}
std::unique_ptr<Source> open_samples(std::string const& spec, ReadOptions options) {
  return as_source(opened(spec, options, true));
}

Dataset open(std::string const& spec, ReadOptions options) {
  Opened found = opened(spec, options);
  if (auto* const dataset = std::get_if<Dataset>(&found)) return std::move(*dataset);
  return load(*std::get<std::unique_ptr<Source>>(found));
}

bool is_spec(std::string const& text) {
  return std::ranges::any_of(formats(), [&](Format const& format) {
    return text.starts_with(format.name) && text.substr(format.name.size()).starts_with(':');
  });
}

std::string spec_for(std::string const& text) {
  std::string_view const path = std::string_view{text}.substr(0, begin_of_options(text));
  auto const fits = [&](Format const& format) { return !format.ending.empty() && path.ends_with(format.ending); };
  auto const found = std::ranges::find_if(formats(), fits);
  return is_spec(text) || found == formats().end() ? "" : std::string{found->name} + ":" + text;
}

std::vector<std::string> files_of(std::string const& spec) {
  Spec const parsed = parse(spec);
  return parsed.format.files(parsed.paths);
}

std::string from_folder(std::string const& folder, std::string const& spec) {
  Spec const parsed = parse(spec);
  if (folder.empty()) return spec;
  std::string result{parsed.format.name};
  char before = ':';
  for (std::string const& path : parsed.paths) {
    result += std::exchange(before, ',');
    std::string const file = (fs::path{folder} / path).string();
    result += parsed.format.most == 1 ? file : quoted_for_list(file);
  }
  return result + parsed.options_text;
}

std::string with_defaults(std::string const& spec, std::span<std::pair<std::string, std::string> const> options) {
  Spec const parsed = parse(spec);
  std::string result = spec;
  bool begun = !parsed.options_text.empty();
  for (auto const& [name, value] : options) {
    if (parsed.options.has(name)) continue;
    result += (!std::exchange(begun, true) ? "?" : result.ends_with('?') ? "" : "&") + name + "=" + value;
  }
  return result;
}

std::string list_for_option(std::span<std::string const> names) {
  std::string text;
  for (std::string const& name : names) text += (text.empty() ? "" : ",") + quoted_for_list(name);
  return text;
}

std::vector<SpecHelp> spec_help() {
  std::vector<SpecHelp> help;
  for (Format const& format : formats()) {
    std::string const name{format.name};
    help.push_back({.spec = name + ":" + std::string{format.argument},
                    .meaning = std::string{format.description},
                    .options = format.options,
                    .name = name,
                    .takes_list = format.most > 1});
  }
  return help;
}

}  // namespace coldpress::data
