// coldpress amp train: makes a model of an amplifier, or of another device, from two sound files.

#include "amp_training.hpp"
#include "commands.hpp"

#include <coldpress/convert/nam.hpp>

#include <cmath>
#include <cstdlib>
#include <memory>

namespace coldpress::command {
namespace {

CLI::Validator positive() {
  return {[](std::string& text) {
            double const value = std::strtod(text.c_str(), nullptr);
            return std::string{value > 0 && std::isfinite(value) ? "" : "must be a number above 0"};
          },
          ""};
}
CLI::Validator factor() {
  return {[](std::string& text) {
            double const value = std::strtod(text.c_str(), nullptr);
            return std::string{value >= 0 && std::isfinite(value) ? "" : "must be a number of at least 0"};
          },
          ""};
}

void add_files(CLI::App& command, AmpOptions& options) {
  command.add_option("--input", options.input, "WAV file of what goes into the device")
      ->type_name(file)
      ->required()
      ->group(of_data);
  command.add_option("--output", options.output, "WAV file of what comes out of it, recorded at the same time")
      ->type_name(file)
      ->required()
      ->group(of_data);
  command.add_option("--delay", options.delay, "Samples by which the output is late; default: found")
      ->type_name(number)
      ->group(of_data);
  command.add_option("--segment", options.segment, "Samples that a segment is judged by, after the network's run-in")
      ->type_name(number)
      ->check(at_least_1())
      ->capture_default_str()
      ->group(of_data);
  command.add_option("--save", options.save, "File for the best model, .nam or .juice")
      ->type_name(file)
      ->required()
      ->group(of_files);
  command
      .add_option("--checkpoint", options.checkpoint,
                  "File for a checkpoint after each epoch, and when the run is interrupted")
      ->type_name(file)
      ->group(of_files);
  command.add_option("--resume", options.resume, "Checkpoint to continue from, with the options of the first run")
      ->type_name(file)
      ->group(of_files);
}

void add_training(CLI::App& command, AmpOptions& options) {
  auto const number_of = [&](char const* name, auto& value, char const* help, CLI::Validator check) {
    command.add_option(name, value, help)->type_name(number)->check(check)->capture_default_str()->group(of_run);
  };
  command.add_option("--architecture", options.architecture, joined(amp_architectures()))
      ->type_name(name)
      ->check(one_of(amp_architectures()))
      ->capture_default_str()
      ->group(of_run);
  number_of("--epochs", options.epochs, "Passes over the data, including those before a checkpoint", at_least_1());
  number_of("--batch", options.batch, "Segments in a step", at_least_1());
  number_of("--seed", options.seed, "Decides initial weights and the order of the segments", any_seed());
  number_of("--rate", options.rate, "Learning rate of Adam", positive());
  number_of("--decay", options.decay, "Factor of the rate after each epoch", positive());
  number_of("--squares", options.losses.squares, "Weight of the mean squared error", factor());
  number_of("--ratio", options.losses.ratio, "Weight of the error to signal ratio", factor());
  number_of("--pre-emphasis", options.losses.pre_emphasis, "c of the filter 1 - c z^-1 before that ratio", factor());
  number_of("--spectra", options.losses.spectra,
            "Weight of the spectra's distance at three resolutions; 0.0005 is usual", factor());
  command.add_option("--validate", options.validate, "Fraction of the sound, at its end, to hold out")
      ->type_name(number)
      ->check(positive())
      ->capture_default_str()
      ->group(of_monitoring);
  command.add_option("--patience", options.patience, "Stop when the ratio has not improved this many epochs in a row")
      ->type_name(number)
      ->check(at_least_1())
      ->group(of_monitoring);
  command.add_option("--keep-best", options.best, "File for the best model so far, written while the training goes on")
      ->type_name(file)
      ->group(of_monitoring);
  command.add_option("--log", options.log, "CSV file for all statistics")->type_name(file)->group(of_monitoring);
  command.add_option("--html", options.html, "A page for a browser: curves, wave and spectrum of target and model")
      ->type_name(file)
      ->group(of_monitoring);
}

}  // namespace

void add_amp(CLI::App& app) {
  auto* const group = app.add_subcommand("amp", "Makes models of amplifiers and other devices for guitars");
  group->require_subcommand(1);
  auto const options = std::make_shared<AmpOptions>();
  auto* const command =
      group->add_subcommand("train", "Trains a model from what goes into a device and what comes out");
  add_files(*command, *options);
  add_training(*command, *options);
  add_computing(*command, options->computing, false);
  command->callback([options] {
    if (options->losses.squares + options->losses.ratio + options->losses.spectra <= 0)
      throw CLI::ValidationError("--squares", "there is nothing to learn from if all weights of losses are 0");
    if ((is_nam(options->save) || is_nam(options->best)) && !convert::has_nam())
      throw UnsupportedError{".nam files need nlohmann-json, without which this command was built; .juice does not"};
    train_amp(*options);
  });
}

}  // namespace coldpress::command
