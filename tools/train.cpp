// coldpress train: trains a network from a config, or from a checkpoint on, and saves it to a file.

#include "commands.hpp"
#include "training.hpp"

#include <charconv>

namespace coldpress::command {
namespace {

/// Adds "20", in steps, or "600s", in seconds.
void also_every(std::string const& text, train::When& when) {
  char const *const begin = text.data(), *const end = begin + text.size();
  std::uint64_t steps = 0;
  double seconds = 0;
  if (auto const read = std::from_chars(begin, end, steps); read.ec == std::errc{} && read.ptr == end && steps > 0) {
    when.steps = steps;
  } else if (auto const other = std::from_chars(begin, end, seconds);
             other.ec == std::errc{} && std::string_view{other.ptr, end} == "s" && seconds > 0 && seconds <= 1e9) {
    when.seconds = seconds;
  } else {
    throw CLI::ValidationError("--checkpoint-every",
                               "must be a number of steps, such as 20, or of seconds, such as 600s; is " + text);
  }
}

}  // namespace

void add_train(CLI::App& app) {
  auto const options = std::make_shared<TrainOptions>();
  RunOptions& run = options->run;
  auto* const command = app.add_subcommand("train", "Trains the network of a config, or continues from a checkpoint");
  add_run(*command, run);
  command->add_option("--test", options->test, "Data to test on after each epoch")->type_name(spec)->group(of_data);
  command->add_option("--save", options->outputs.save, "File for the trained network, .juice")
      ->type_name(file)
      ->required()
      ->group(of_files);
  command->add_option("--steps", options->steps, "Stop after this many steps, including those before a checkpoint")
      ->type_name(number)
      ->check(at_least_1())
      ->group(of_run);
  auto* const checkpoint =
      command
          ->add_option("--checkpoint", options->outputs.checkpoint,
                       "File for a checkpoint after each epoch, and when the run is interrupted: Ctrl-C, SIGTERM, "
                       "SIGHUP, or output that nobody reads")
          ->type_name(file)
          ->group(of_files);
  command
      ->add_option_function<std::string>(
          "--checkpoint-every", [options](std::string const& text) { also_every(text, options->checkpoint_when); },
          "Also write the checkpoint after every N steps, or, as in 600s, after so many seconds")
      ->type_name("N[s]")
      ->needs(checkpoint)
      ->group(of_files);
  command
      ->add_option("--prefetch", options->prefetch,
                   "Minibatches that a thread of its own reads ahead, which does not change results; 0: no thread")
      ->type_name(number)
      ->check(CLI::Range(Index{0}, Index{1} << 20).description(""))
      ->capture_default_str()
      ->group(of_data);
  command
      ->add_option("--validate", run.validate,
                   "Fraction of the data to hold out, such as 0.1, and to validate on after each epoch")
      ->type_name(number)
      ->group(of_monitoring);
  command
      ->add_option("--patience", run.patience,
                   "Stop when the metric has not improved this many epochs in a row, and save the best network")
      ->type_name(number)
      ->check(at_least_1())
      ->group(of_monitoring);
  command
      ->add_option(
          "--metric", run.metric,
          "What --patience and --keep-best watch: loss, accuracy or a statistic of the network, as validation/loss, "
          "test/accuracy, training/accuracy, ...; default: validation/loss")
      ->type_name(name)
      ->group(of_monitoring);
  command->add_option("--min-delta", run.min_delta, "The smallest improvement of the metric that counts; default: 0")
      ->type_name(number)
      ->group(of_monitoring);
  command->add_option("--keep-best", options->outputs.best, "File for the network with the best metric so far")
      ->type_name(file)
      ->group(of_monitoring);
  auto* const ema =
      command
          ->add_option("--ema", run.ema,
                       "Validate and save an exponential moving average of the weights with this decay, such as 0.999")
          ->type_name(number)
          ->group(of_monitoring);
  command
      ->add_option("--swa", run.swa,
                   "Validate and save the mean of the weights at the ends of all epochs after the first N")
      ->type_name(number)
      ->check(CLI::Range(Index{0}, Index{1} << 40).description(""))
      ->group(of_monitoring)
      ->excludes(ema);
  command->add_option("--report", options->outputs.report, "SVG file for the curves of loss and accuracy")
      ->type_name(file)
      ->group(of_monitoring);
  command->add_option("--log", options->outputs.log, "CSV file for all statistics")
      ->type_name(file)
      ->group(of_monitoring);
  command
      ->add_option("--html", options->outputs.html,
                   "A page for a browser: curves, layers, memory, and of validation or test the worst samples")
      ->type_name(file)
      ->group(of_monitoring);
  command->add_option("--tensorboard", options->outputs.tensorboard, "Folder for event files of TensorBoard")
      ->type_name("DIR")
      ->group(of_monitoring);
  command->add_flag("--live", options->live, "Draw the loss above the progress bar")->group(of_monitoring);
  add_reading(*command, options->reading);
  add_computing(*command, options->computing, false);
  command
      ->add_option(
          "--rank-timeout", options->rank_timeout,
          "Under mpirun or srun: seconds for which a process waits for another, also while one reads or writes "
          "files, before the run fails")
      ->type_name(number)
      ->check(between(0.1, 1e6))
      ->capture_default_str()
      ->group(of_computing);
  command->footer(
      "Examples:\n"
      "  coldpress train --config net.capnp.txt --data mnist:DIR --save net.juice\n"
      "  coldpress train --config net.capnp.txt --validate 0.1 --patience 5 --keep-best best.juice --save net.juice\n"
      "  coldpress train --config net.capnp.txt --set solver.baseLr=0.01 --checkpoint run --save net.juice\n"
      "  coldpress train --resume run --trust-paths --epochs 20 --checkpoint run --save net.juice\n"
      "  mpirun -n 4 coldpress train --config net.capnp.txt --set solver.microbatch=8 --save net.juice\n\n"
      "Under mpirun or srun the processes train one network together: each computes its microbatches of every step, "
      "which gives the same bits on any number of them.\n\n" +
      app.get_footer());
  command->callback([options] { train_run(*options); });
}

}  // namespace coldpress::command
