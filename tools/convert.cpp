// coldpress convert: reads networks and arrays of other frameworks, and writes them.

#include "check_outputs.hpp"
#include "commands.hpp"
#include "convert_formats.hpp"
#include "options.hpp"
#include "print.hpp"
#include "source_files.hpp"
#include "writable.hpp"

#include <coldpress/convert/cpp_type.hpp>
#include <coldpress/convert/fold.hpp>
#include <coldpress/convert/format.hpp>
#include <coldpress/core/counted.hpp>
#include <coldpress/data/atomic_file.hpp>
#include <coldpress/data/transform.hpp>
#include <coldpress/persist.hpp>

#include <functional>
#include <memory>

namespace coldpress::command {
namespace {

using convert::Conversion;

/// The names of the formats for which `has` holds.
std::vector<std::string> names(std::function<bool(Format const&)> const& has) {
  std::vector<std::string> all;
  for (Format const& format : formats()) {
    if (has(format)) all.push_back(format.name);
  }
  return all;
}
bool can_be_read(Format const& format) { return format.read_network || format.read_array; }
bool can_be_written(Format const& format) { return format.write_network || format.write_array; }

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
      std::ranges::any_of(all, [&](Format const& format) { return format.name == name && can_be_read(format); });
  return read ? std::string{name} : "";
}

struct ConvertOptions {
  std::string input, output, from, config, map;
  std::vector<std::string> to;  // of which one may be given
  std::vector<Index> sample;
  std::vector<std::string> check;  // samples, and the outputs of the other framework for them
  bool fold = false, seeded = false;
  convert::Options options;
  std::shared_ptr<Chosen> chosen = std::make_shared<Chosen>();
};

/// What is not said by the network alone.
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
    text += "note: " + blob + " is not used, because the config has no such layer\n";
  show(text + output + ": " + counted(count(conversion.model.weights), "parameter"));
}

/// What was written.
void report(Conversion const& conversion, Format const& to, ConvertOptions const& options) {
  TypeOptions const& type = options.chosen->type;
  if (to.name == "config") return show(options.output + ": the config");
  if (to.name == "type") show(options.output + ": " + type.name_space + "::Network");
  if (to.name != "type" || type.writes_weights) report(conversion, to.name == "type" ? type.weights : options.output);
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
  if (from.weights_only) {  // so that what is wrong with the config is not said of the weights
    with_context([&] { static_cast<void>(dynamic::weights_of(config, how.input)); },
                 [&](Error& error) { error.in_file(options.config); });
  }
  if (!training.transforms.empty()) {
    try {
      data::check_fitted(training.transforms);
    } catch (ConfigError const& error) {
      ConfigError here{error.sentence() + "; convert reads no data, so write them into the config or leave it out"};
      here.in_field(error.field()), here.in_file(options.config);
      throw here;
    }
  }
  Conversion conversion = from.read_network(options.input, std::move(config), how);
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
  if (from.name == "config" && to.name != "type")
    throw CLI::ValidationError("--to",
                               "is " + to.name + ", and " + options.input + " is a config, which has no weights");
  for (auto const& [option, given] : {std::pair{"--check", !options.check.empty()}, {"--fold", options.fold}}) {
    if (given && !(from.read_network && to.write_network)) throw CLI::ValidationError(option, "is for networks");
    if (given && from.name == "config") throw CLI::ValidationError(option, "is for networks with weights");
  }
  Files files;
  files.reads("INPUT", options.input);
  files.reads("--config", options.config);
  files.reads("--map", options.map);
  for (std::string const& path : options.check) files.reads("--check", path);
  files.writes("OUTPUT", options.output);
  if (to.name == "type") prepare_type(options.chosen->type, from, options, files);
  files.check_writable();
  if (!options.map.empty()) options.chosen->names = convert::read_name_map(options.map);
  if (from.read_network && to.write_network) return convert_network(from, to, options);
  if (from.read_array && to.write_array) return convert_array(from, to, options);
  throw CLI::ValidationError("--to", "is " + to.name + ", to which files of " + from.name + " cannot be converted");
}

CLI::Validator a_namespace() {
  return {[](std::string& text) {
            try {
              convert::check_namespace(text);
              return std::string{};
            } catch (ConfigError const& error) {
              return error.sentence();
            }
          },
          ""};
}

std::string explanation() {
  std::string text = "Formats, and the endings by which they are known, if not by their content:\n";
  for (Format const& format : formats()) {
    text += "  " + format.name + ":";
    for (std::string const& ending : format.endings) text += " " + ending;
    std::vector<std::string> can;
    if (format.read_network) can.push_back(format.weights_only ? "reads weights into a config" : "reads networks");
    if (format.write_network) can.push_back(format.weights_only ? "writes weights" : "writes networks");
    if (format.read_array) can.push_back("reads a mean image");
    if (format.write_array) can.push_back("writes a mean image");
    text += " (" + (format.about.empty() ? joined(can) : format.about) + ")\n";
  }
  return text +
         "\nExamples:\n"
         "  coldpress convert lenet.caffemodel --config lenet.capnp.txt -o lenet.juice\n"
         "  coldpress convert lenet.juice lenet.hdf5\n"
         "  coldpress convert model.onnx model.juice --check x.npy y.npy\n"
         "  coldpress convert net.juice model.onnx\n"
         "  coldpress convert model.safetensors --config net.capnp.txt -o net.juice\n"
         "  coldpress convert net.juice model.safetensors --map names.txt\n"
         "  coldpress convert mean.binaryproto mean.npy\n"
         "  coldpress convert model.keras net.juice\n"
         "  coldpress convert model.json net.juice\n"
         "  coldpress convert amp.nam amp.juice\n"
         "  coldpress convert model.onnx --as type model.hpp\n"
         "  coldpress convert model.onnx --as config model.capnp.txt\n";
}

}  // namespace

void add_convert(CLI::App& app) {
  auto const options = std::make_shared<ConvertOptions>();
  auto* const command = app.add_subcommand(
      "convert",
      "Reads networks of ONNX, Keras, RTNeural and .nam files, and weights of PyTorch, Mocha and Caffe into the "
      "network of a config, and writes them as files of coldpress, ONNX models, types in C++ and others");
  command->footer(explanation);
  command->add_option("INPUT", options->input, "The file to read")->type_name("")->required();
  command->add_option("-o,--output,OUTPUT", options->output, "The file to write")->type_name(file)->required();
  auto const add_format = [&](char const* option, auto& chosen, char const* help, auto const& has) {
    return command->add_option(option, chosen, std::string{help} + joined(names(has)))
        ->type_name(name)
        ->check(one_of(names(has)));
  };
  add_format("--from", options->from,
             "The format of INPUT, if neither its content nor its ending says it: ", can_be_read);
  add_format("--to,--as", options->to, "The format of OUTPUT, if its ending does not say it: ", can_be_written)
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->allow_extra_args(false);
  command->add_option("--config", options->config, "File with the network that the weights are for")->type_name(file);
  command
      ->add_option("--map", options->map, "File with lines THEIRS = OURS, for names that are not those of the config")
      ->type_name(file);
  command
      ->add_option("--input", options->sample,
                   "Extents of one sample, if the config or the model declares none; for models of sound, and for an "
                   "ONNX model of a sequence of another length, steps and channels")
      ->type_name(number)
      ->check(at_least_1())
      ->expected(1, Shape::max_rank);
  command
      ->add_option("--check", options->check,
                   "Samples, and the outputs of the other framework for them, with which the network is compared")
      ->type_name("X.npy Y.npy")
      ->expected(2);
  command->add_flag("--fold", options->fold,
                    "Computes batch normalisations in the convolutions and dense layers before them: faster, for "
                    "inference");
  command->add_option("--size", options->chosen->size, "Which network of a .nam file that has several, from 0 to 1")
      ->type_name(number)
      ->check(CLI::Range(0.0, 1.0).description(""))
      ->capture_default_str();
  command->add_flag("--channels-last", options->chosen->channels_last,
                    "A model of Keras takes and gives images {height, width, channels}, as there");
  command->add_flag("--steps-first", options->chosen->onnx.steps_first,
                    "Values [samples, channels, steps] of an ONNX model become sequences {steps, channels}");
  command->add_flag("!--one-sample", options->chosen->onnx.batched,
                    "The inputs of an ONNX model are one sample each, without an axis that counts samples");
  command
      ->add_option("--namespace", options->chosen->type.name_space,
                   "The namespace of a type in C++, if not the name of the file")
      ->type_name(name)
      ->check(a_namespace());
  command->add_flag("--allow-missing", options->options.allow_missing,
                    "Weights that the file lacks have their initial values, not only biases");
  CLI::Option const* const seed = command->add_option("--seed", options->options.seed, "Seed of these initial values")
                                      ->type_name(number)
                                      ->check(not_negative())
                                      ->capture_default_str();
  command->callback([options, seed] {
    options->seeded = seed->count() > 0;
    convert_file(*options);
  });
}

}  // namespace coldpress::command
