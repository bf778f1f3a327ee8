// coldpress train: trains a network from a config, or from a checkpoint on, and saves it to a file.

#include "commands.hpp"
#include "run.hpp"
#include "trainer.hpp"

#include <cstdio>

namespace coldpress::command {
namespace {

struct Options {
  RunOptions run;
  std::string test;
  std::uint64_t steps = 0;
  Index prefetch = 4;
  Computing computing;
  data::ReadOptions reading;
  Outputs outputs;
};

void train(Options const& options) {
  Files files;
  files.reads("--config", options.run.config);
  files.reads("--resume", options.run.resume);
  files.reads_data("--data", options.run.data);
  files.reads_data("--test", options.test);
  files.writes("--save", options.outputs.save);
  if (!options.outputs.checkpoint.empty()) files.writes("--checkpoint", options.outputs.checkpoint, "--resume");
  if (!options.outputs.report.empty()) files.writes("--report", options.outputs.report);
  files.check_writable();
  persist::Checkpoint run = read_run(options.run, files);
  auto const training = data::open_source(run.data, options.reading);
  dynamic::Solver solver = make_solver(options.run, options.computing, run, training->sample_shape());
  run.model = {}, run.optimizer_state = {};  // the solver has them now
  check_fits(solver.network(), run.loss, *training, run.data);
  std::unique_ptr<data::Source> test;
  if (!options.test.empty()) {
    test = data::open_source(options.test, options.reading);
    check_fits(solver.network(), run.loss, *test, options.test);
  }

  Index parameters = 0;
  for (auto const& weight : solver.network().executable().weights()) parameters += weight.shape.size();
  std::printf("%td samples of %s, %td parameters, batch %td, %s\n", training->size(),
              to_string(training->sample_shape()).c_str(), parameters, run.batch, options.computing.backend.c_str());
  Trainer{solver, run, *training, test.get(), options.outputs, options.prefetch}.train(options.steps);
}

}  // namespace

void add_train(CLI::App& app) {
  auto const options = std::make_shared<Options>();
  auto* const command = app.add_subcommand("train", "Trains the network of a config, or continues from a checkpoint");
  add_run(*command, options->run);
  command->add_option("--test", options->test, "Data to test on after each epoch")->type_name(spec);
  command->add_option("--save", options->outputs.save, "File for the trained network")->type_name(file)->required();
  command->add_option("--steps", options->steps, "Stop after this many steps, including those before a checkpoint")
      ->type_name(number)
      ->check(at_least_1());
  auto* const checkpoint =
      command
          ->add_option("--checkpoint", options->outputs.checkpoint,
                       "File for a checkpoint after each epoch, and when the run is interrupted: Ctrl-C, SIGTERM, "
                       "SIGHUP, or output that nobody reads")
          ->type_name(file);
  command
      ->add_option("--checkpoint-every", options->outputs.checkpoint_every,
                   "Also write the checkpoint after every N steps")
      ->type_name(number)
      ->check(at_least_1())
      ->needs(checkpoint);
  command
      ->add_option("--prefetch", options->prefetch,
                   "Minibatches that a thread of its own reads ahead, which does not change results; 0: no thread")
      ->type_name(number)
      ->check(CLI::Range(Index{0}, Index{1} << 20).description(""))
      ->capture_default_str();
  command->add_option("--report", options->outputs.report, "SVG file for the curves of loss and accuracy")
      ->type_name(file);
  add_reading(*command, options->reading);
  add_computing(*command, options->computing, false);
  command->callback([options] { train(*options); });
}

}  // namespace coldpress::command
