// Chooses both formats, converts a network or an array, and prints what was lost or not used.
#include "convert_file.hpp"

#include "check_outputs.hpp"
#include "print.hpp"
#include "writable.hpp"

#include <coldpress/convert/cpp_type.hpp>
#include <coldpress/convert/fold.hpp>
#include <coldpress/convert/format.hpp>
#include <coldpress/core/counted.hpp>
#include <coldpress/data/atomic_file.hpp>
#include <coldpress/data/transform.hpp>
#include <coldpress/persist.hpp>

#include <CLI/CLI.hpp>

namespace coldpress::command {
namespace {

using convert::Conversion;

/// The format of that name, or that of the file's ending if there is no name.
Format format_of(std::string const& option, std::string const& name, std::string const& path,
                 std::vector<Format> const& all) {
  for (Format const& format : all) {
    auto const ends = [&](std::string const& ending) { return path.ends_with(ending); };
    if (name.empty() ? std::ranges::any_of(format.endings, ends) : format.name == name) return format;
  }
  throw CLI::ValidationError(
      option, "is required, because the ending of '" + persist::printable(path) + "' is that of no known format");
}

/// The name of the format that the content of a file says, if it is one that is read; otherwise its ending decides.
std::string known_by_content(std::string const& path, std::vector<Format> const& all) {
  convert::refuse_pickles(path);
  std::string_view const name = convert::format_of_content(path);
  bool const read =
      std::ranges::any_of(all, [&](Format const& format) { return format.name == name && format.is_read(); });
  return read ? std::string{name} : "";
}

/// Prints what the network alone does not say, and what the new format loses.
void report(Chosen const& chosen, Format const& to, persist::Model const& model, ConvertOptions const& options) {
  std::vector<std::string> sizes, lost;
  for (double const size : chosen.sizes) sizes.push_back(to_string(static_cast<float>(size)));
  if (sizes.size() > 1) {
    show("note: " + options.input + " has a network for each of the sizes " + joined(sizes) + ", of which --size " +
         to_string(static_cast<float>(chosen.size)) + " chooses one");
  }
  for (auto const& [key, value] : model.metadata) lost.push_back(key);
  if (!to.metadata && !lost.empty()) show("note: " + options.output + " cannot hold the metadata: " + joined(lost));
}

void report(Conversion const& conversion, std::string const& output) {
  std::string text;
  for (auto const& [weight, origin] : conversion.filled) text += weight + " from " + origin + "\n";
  for (std::string const& weight : conversion.initialised)
    text += "note: " + weight + " is not in the file and has its initial value\n";
  for (std::string const& blob : conversion.unused)
    text += "note: " + blob + " is not used: no weight of the config is made of it\n";
  show(text + output + ": " + counted(count(conversion.model.weights), "parameter"));
}

/// Prints what was written.
void report(Conversion const& conversion, Format const& to, ConvertOptions const& options) {
  TypeOptions const& type = options.chosen->type;
  if (to.name == "config") return show(options.output + ": the config");
  if (to.name == "type") show(options.output + ": " + type.name_space + "::Network");
  if (to.name != "type" || type.writes_weights) report(conversion, to.name == "type" ? type.weights : options.output);
}

/// So that what is wrong with the config is not said of the weights.
void check_config(std::string const& path, dynamic::LayerConfig const& config, std::optional<Shape> const& input) {
  try {
    static_cast<void>(dynamic::weights_of(config, input));
  } catch (ConfigError& error) {
    bool const open = !input && !dynamic::declares_input(config);
    ConfigError here{error.sentence() +
                     (open ? "; --input gives the shape of a sample where the config does not" : "")};
    here.in_layer(error.layer()), here.in_field(error.field()), here.in_file(path);
    throw here;
  } catch (Error& error) {
    error.in_file(path);
    throw;
  }
}

bool is_model(std::string const& path) {
  try {
    static_cast<void>(persist::read_model(path));
    return true;
  } catch (Error const&) {
    return false;
  }
}

/// Reads the network of INPUT. A file of coldpress whose ending is that of another format is not called damaged.
Conversion read(Format const& from, ConvertOptions const& options, dynamic::LayerConfig config,
                convert::Options const& how) {
  try {
    return from.read_network(options.input, std::move(config), how);
  } catch (FormatError const&) {
    if (from.name == "juice" || !is_model(options.input)) throw;
    FormatError here{"is a network of coldpress or Juice, not one of the format " + from.name +
                     "; --from juice reads it"};
    here.in_file(options.input);
    throw here;
  }
}

void convert_network(Format const& from, Format const& to, ConvertOptions const& options) {
  if (from.weights_only && options.config.empty()) throw CLI::RequiredError("--config");
  if (!from.weights_only && !options.config.empty())
    throw CLI::ValidationError("--config", "is for formats that have only weights, and " + from.name + " has networks");
  persist::Training const training =
      options.config.empty() ? persist::Training{} : persist::read_training(options.config);
  auto config = training.network;
  convert::Options how = options.options;
  if (!options.sample.empty()) {
    how.input.emplace();
    std::copy(options.sample.begin(), options.sample.end(), how.input->extents);
  }
  if (from.weights_only) check_config(options.config, config, how.input);
  if (!training.transforms.empty()) {
    try {
      data::check_fitted(training.transforms);
    } catch (ConfigError const& error) {
      ConfigError here{error.sentence() + "; convert reads no data, so write them into the config or leave it out"};
      here.in_field(error.field()), here.in_file(options.config);
      throw here;
    }
  }
  Conversion conversion = read(from, options, std::move(config), how);
  if (!training.transforms.empty()) conversion.model.transforms = training.transforms;
  if (how.input) {  // which no format may overlook
    auto& network = conversion.model.config;
    with_context([&] { static_cast<void>(dynamic::weights_of(network, how.input)); },
                 [&](Error& error) { error.in_file(options.input); });
    auto* const container = std::get_if<dynamic::SequentialConfig>(&network.layer_type);
    if (container && container->inputs.size() == 1) container->inputs[0].shape = *how.input;  // other steps
    dynamic::declare_input(network, *how.input);
  }
  if (options.fold) {
    auto const [folded, kept] = convert::fold_batch_normalization(conversion.model);
    std::string text = "folded " + std::to_string(folded.size()) + " of " +
                       counted(folded.size() + kept.size(), "normalisation") + " into the layers before" +
                       (folded.empty() ? "" : ": " + joined(folded));
    for (auto const& [name, reason] : kept) text += "\nkept " + name + ": " + reason;
    show(text);
  }
  if (!options.check.empty()) check_outputs(conversion.model, options.check[0], options.check[1]);
  if (!to.transforms && !conversion.model.transforms.empty())
    show("note: " + options.output + " cannot hold the transforms of samples");
  to.write_network(options.output, conversion.model);
  report(*options.chosen, to, conversion.model, options);
  report(conversion, to, options);
}

void convert_array(Format const& from, Format const& to, ConvertOptions const& options) {
  data::NpyArray const array = from.read_array(options.input);
  to.write_array(options.output, array);
  std::string shape;
  for (Index const extent : array.extents) shape += (shape.empty() ? "" : ", ") + std::to_string(extent);
  show(options.output + ": values of shape {" + shape + "}");
}

/// Decides what a header is to have, and where the weights of its type are written.
void prepare_type(TypeOptions& type, Format const& from, ConvertOptions const& options, Files& files) {
  if (type.name_space.empty()) type.name_space = convert::namespace_of(options.output);
  type.origin = options.input;
  if (from.name == "config") return;  // which has no weights
  type.weights = weights_beside(options.output);
  type.writes_weights = options.fold || from.name != "juice" || !same_file(type.weights, options.input);
  if (type.writes_weights) files.writes("the weights of OUTPUT", type.weights);
}

}  // namespace

void convert_file(ConvertOptions const& options) {
  if (options.to.size() > 1)
    throw CLI::ValidationError("--to", "or --as, which are the same, is given more than once: " + joined(options.to));
  auto const all = formats(options.chosen);
  std::string const content = options.from.empty() ? known_by_content(options.input, all) : options.from;
  Format const from = format_of("--from", content, options.input, all);
  Format const to = format_of("--to", options.to.empty() ? "" : options.to[0], options.output, all);
  if (options.chosen->size != 1 && from.name != "nam")
    throw CLI::ValidationError("--size", "is for .nam files, which may have several networks");
  if (options.chosen->channels_last && from.name != "keras")
    throw CLI::ValidationError("--channels-last", "is for models of Keras");
  bool const whole = options.chosen->onnx.batched;
  if ((!whole || options.chosen->onnx.steps_first) && from.name != "onnx")
    throw CLI::ValidationError(whole ? "--steps-first" : "--one-sample", "is for ONNX models");
  if (!options.map.empty() && from.named == to.named)
    throw CLI::ValidationError("--map", "is for one file of weights whose tensors have names: safetensors or npz");
  for (auto const& [option, given] :
       {std::pair{"--allow-missing", options.options.allow_missing}, {"--seed", options.seeded}}) {
    if (given && !from.weights_only)
      throw CLI::ValidationError(option, "is for formats that have only weights, of which some may be missing, and " +
                                             from.name + " has whole networks");
  }
  if (!options.chosen->type.name_space.empty() && to.name != "type")
    throw CLI::ValidationError("--namespace", "is for a type in C++");
  bool const rewrites = from.name == "config" && to.name == "config";
  if (from.name == "config" && to.name != "type" && !rewrites)
    throw CLI::ValidationError("--to",
                               "is " + to.name + ", and " + options.input + " is a config, which has no weights");
  for (auto const& [option, given] : {std::pair{"--check", !options.check.empty()}, {"--fold", options.fold}}) {
    if (given && !(from.read_network && to.write_network)) throw CLI::ValidationError(option, "is for networks");
    if (given && from.name == "config") throw CLI::ValidationError(option, "is for networks with weights");
  }
  for (auto const& [option, given] :
       {std::pair{"--config", !options.config.empty()}, {"--input", !options.sample.empty()}})
    if (given && rewrites) throw CLI::ValidationError(option, "is for networks, and a config is written as it is");
  Files files;
  files.reads("INPUT", options.input);
  files.reads("--config", options.config);
  files.reads("--map", options.map);
  for (std::string const& path : options.check) files.reads("--check", path);
  files.writes("OUTPUT", options.output);
  if (to.name == "type") prepare_type(options.chosen->type, from, options, files);
  files.check_writable();
  if (!options.map.empty()) options.chosen->names = convert::read_name_map(options.map);
  if (rewrites) {  // with its loss, solver and data, which other formats do not have
    persist::write_training(options.output, persist::read_training(options.input));
    return show(options.output + ": the config");
  }
  if (from.read_network && to.write_network) return convert_network(from, to, options);
  if (from.read_array && to.write_array) return convert_array(from, to, options);
  throw CLI::ValidationError("--to", "is " + to.name + ", to which files of " + from.name + " cannot be converted");
}

}  // namespace coldpress::command
