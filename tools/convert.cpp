// coldpress convert: reads networks and arrays of other frameworks, and writes them.

#include "commands.hpp"
#include "convert_file.hpp"
#include "options.hpp"
#include "print.hpp"

#include <coldpress/convert/cpp_type.hpp>

#include <functional>

namespace coldpress::command {
namespace {

/// The names of the formats for which `has` holds.
std::vector<std::string> names(std::function<bool(Format const&)> const& has) {
  std::vector<std::string> all;
  for (Format const& format : formats()) {
    if (has(format)) all.push_back(format.name);
  }
  return all;
}

CLI::Validator a_namespace() {
  return {[](std::string& text) -> std::string {
            try {
              convert::check_namespace(text);
              return {};
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
  command->add_option("-o,--output,OUTPUT", options->output, "The file to write; given once, by -o or as OUTPUT")
      ->type_name(file)
      ->required();
  auto const add_format = [&](char const* option, auto& chosen, char const* help, auto const& has) {
    return command->add_option(option, chosen, std::string{help} + joined(names(has)))
        ->type_name(name)
        ->check(one_of(names(has)));
  };
  add_format("--from", options->from,
             "The format of INPUT, if neither its content nor its ending says it: ", &Format::is_read);
  add_format("--to,--as", options->to, "The format of OUTPUT, if its ending does not say it: ", &Format::is_written)
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
      ->check(between(0, 1))
      ->capture_default_str();
  command->add_flag("--channels-last", options->chosen->channels_last,
                    "A model of Keras takes and gives images {height, width, channels}, as there");
  command->add_flag("--steps-first", options->chosen->onnx.steps_first,
                    "Values [samples, channels, steps] of an ONNX model become sequences {steps, channels}");
  command->add_flag_callback(
      "--one-sample", [options] { options->chosen->onnx.batched = false; },
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
                                      ->check(any_seed())
                                      ->capture_default_str();
  command->callback([options, seed] {
    options->seeded = seed->count() > 0;
    convert_file(*options);
  });
}

}  // namespace coldpress::command
