// coldpress train: from a config, or on from a checkpoint, to a network in a file.

#include "commands.hpp"
#include "options.hpp"
#include "trainer.hpp"
#include "writable.hpp"

#include <coldpress/persist.hpp>

#include <cstdio>

namespace coldpress::command {
namespace {

struct Options {
  std::string config, resume, data, test, save;
  std::optional<Index> epochs, batch;
  std::optional<std::uint64_t> seed;
  std::uint64_t steps = 0;
  Computing computing;
  data::ReadOptions reading;
  Files files;
};

using persist::Checkpoint;

/// A run that has not begun, as the config says and the options override. It has no weights yet.
Checkpoint begin(persist::Training const& training, Options const& options) {
  return {.model = {.config = training.network},
          .loss = training.loss,
          .solver = training.solver,
          .data = options.data.empty() ? training.data : options.data,
          .epochs = options.epochs.value_or(training.epochs),
          .batch = options.batch.value_or(training.batch),
          .seed = options.seed.value_or(training.seed)};
}

/// Throws MismatchError where config or options ask for another run than the one in the checkpoint.
void check_same_run(Checkpoint const& run, std::optional<persist::Training> const& training, Options const& options) {
  auto const check = [](char const* what, auto wanted, auto found) {
    if (wanted && *wanted != found) {
      throw MismatchError{std::string{"was made with "} + what + " " + std::to_string(found) + ", not " +
                          std::to_string(*wanted)};
    }
  };
  check("batch", options.batch, run.batch);
  check("seed", options.seed, run.seed);
  if (!training) return;
  std::string const other = dynamic::difference(run.model.config, training->network);
  if (!other.empty()) throw MismatchError{"is of another network than the config's: " + other};
  auto const type = [](auto const& loss) { return loss ? std::optional{loss->layer_type} : std::nullopt; };
  if (type(run.loss) != type(training->loss)) throw MismatchError{"has another loss than the config"};
  if (run.solver != training->solver) throw MismatchError{"has another solver than the config"};
}

void check_complete(Checkpoint const& run, std::string const& file) {
  ConfigError error{"is missing"};
  error.in_file(file);
  error.in_field("data");
  if (run.data.empty()) throw error;
}

/// Where to go on, or where to begin.
Checkpoint read_run(Options const& options) {
  std::optional<persist::Training> training;
  if (!options.config.empty()) training = persist::read_training(options.config);
  if (options.resume.empty()) {
    Checkpoint run = begin(*training, options);
    check_complete(run, options.config);
    return run;
  }
  Checkpoint run = persist::read_checkpoint(options.resume);
  if (options.epochs) run.epochs = *options.epochs;
  if (!options.data.empty()) run.data = options.data;
  check_complete(run, options.resume);
  with_context([&] { check_same_run(run, training, options); }, [&](Error& error) { error.in_file(options.resume); });
  return run;
}

dynamic::Solver make_solver(Options const& options, Checkpoint const& run, Shape sample) {
  dynamic::Backend const backend = options.computing.open();
  return with_context(
      [&] {
        if (!options.resume.empty()) return persist::solver_of(backend, run);
        dynamic::SolverConfig config = run.solver;
        config.network = run.model.config;
        config.objective = run.loss;
        return dynamic::Solver::from_config(backend, backend, std::move(config), sample, run.seed);
      },
      [&](Error& error) { error.in_file(options.resume.empty() ? options.config : options.resume); });
}

void train(Options const& options) {
  check_writable(options.save);
  for (std::string const& path : {options.files.checkpoint, options.files.report}) {
    if (!path.empty()) check_writable(path);
  }
  Checkpoint run = read_run(options);
  data::Dataset const training = data::open(run.data, options.reading);
  dynamic::Solver solver = make_solver(options, run, training.sample_shape);
  run.model = {}, run.optimizer_state = {};  // the solver has them now
  check_fits(solver.network(), run.loss, training, run.data);
  std::optional<data::Dataset> test;
  if (!options.test.empty())
    check_fits(solver.network(), run.loss, test.emplace(data::open(options.test, options.reading)), options.test);

  Index parameters = 0;
  for (auto const& weight : solver.network().executable().weights()) parameters += weight.shape.size();
  std::printf("%td samples of %s, %td parameters, batch %td, %s\n", training.size(),
              to_string(training.sample_shape).c_str(), parameters, run.batch, options.computing.backend.c_str());
  Trainer trainer{solver, run, training, test ? &*test : nullptr, options.files};
  trainer.train(options.steps);
  persist::write_model(options.save, persist::model_of(solver.network(), run.solver.minibatch_size.value_or(1)));
  std::printf("%s has the network after %s steps\n", options.save.c_str(), std::to_string(solver.iteration()).c_str());
}

}  // namespace

void add_train(CLI::App& app) {
  auto const options = std::make_shared<Options>();
  auto* const command = app.add_subcommand("train", "Trains the network of a config, or goes on from a checkpoint");
  auto* const config =
      command->add_option("--config", options->config, "Network, loss and solver, as Cap'n Proto text or message")
          ->type_name(file);
  auto* const resume =
      command->add_option("--resume", options->resume, "Checkpoint to go on from, as if nothing had happened")
          ->type_name(file);
  command->add_option("--data", options->data, std::string{data_help} + "; default: the config's")->type_name(spec);
  command->add_option("--test", options->test, "Data to test on after each epoch")->type_name(spec);
  command->add_option("--save", options->save, "File for the trained network")->type_name(file)->required();
  command
      ->add_option("--epochs", options->epochs,
                   "Times through the data, those before a checkpoint included; default: the config's")
      ->type_name(number)
      ->check(at_least_1);
  command->add_option("--steps", options->steps, "Stop after this many steps, those before a checkpoint included")
      ->type_name(number)
      ->check(at_least_1);
  command->add_option("--batch", options->batch, "Samples in a step; default: the config's, or 64")
      ->type_name(number)
      ->check(at_least_1);
  command
      ->add_option("--seed", options->seed,
                   "Decides initial weights, Dropout and the order of the data; default: the config's, or 0")
      ->type_name(number)
      ->check(not_negative);
  auto* const checkpoint = command
                               ->add_option("--checkpoint", options->files.checkpoint,
                                            "File for a checkpoint after each epoch, and on Ctrl-C")
                               ->type_name(file);
  command->add_option("--checkpoint-every", options->files.checkpoint_every, "And after each so many steps")
      ->type_name(number)
      ->check(at_least_1)
      ->needs(checkpoint);
  command->add_option("--report", options->files.report, "SVG file for the curves of loss and accuracy")
      ->type_name(file);
  add_reading(*command, options->reading);
  add_computing(*command, options->computing, false);
  command->callback([options, config, resume] {
    if (config->empty() && resume->empty()) throw CLI::RequiredError("--config or --resume");
    check_distinct({options->save, options->files.report, options->files.checkpoint}, {options->config});
    check_distinct({options->save, options->files.report}, {options->resume});
    train(*options);
  });
}

}  // namespace coldpress::command
