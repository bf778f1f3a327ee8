// coldpress train: trains a network from a config, or from a checkpoint on, and saves it to a file.

#include "commands.hpp"
#include "ending.hpp"
#include "print.hpp"
#include "report.hpp"
#include "run.hpp"

#include <coldpress/core/counted.hpp>
#include <coldpress/data/progress.hpp>
#include <coldpress/train.hpp>

#include <cstdio>
#include <fstream>

namespace coldpress::command {
namespace {

using persist::Checkpoint;
using train::Trainer;

struct Options {
  RunOptions run;
  std::string test, save, checkpoint, best, report, log, html, tensorboard;
  bool live = false;
  Index checkpoint_every = 0;  // in steps; 0: only after each epoch
  std::uint64_t steps = 0;
  Index prefetch = 4;
  Computing computing;
  data::ReadOptions reading;
};

/// The data that a run learns from, and the data that it is judged by.
struct Data : RunData {
  std::unique_ptr<data::Source> test = {}, tested = {};  // the latter as the network sees it
};

Data open_all(Options const& options, Checkpoint& run) {
  Data data{open_data(run, options.reading)};
  if (options.test.empty()) return data;
  data.test = data::open_source(options.test, options.reading);
  show_skipped(*data.test);
  data.tested = with_context(
      [&] {
        data::check_classes(*data.test, data.all->description().classes);
        return data::transformed(*data.test, run.model.transforms);
      },
      [&](Error& error) { error.in_file(options.test); });
  return data;
}

/// Throws ConfigError unless the metric is one that the run will have.
void check_metric(Metric const& metric, Data const& data, bool scored, bool labels) {
  std::vector<std::string> known{"training/loss_epoch"};
  if (labels) known.push_back("training/accuracy");
  for (auto const& [judge, there] :
       {std::pair{"validation", data.parts.held_out != nullptr}, {"test", data.test != nullptr}}) {
    if (there && scored) known.push_back(std::string{judge} + "/loss");
    if (there && labels) known.push_back(std::string{judge} + "/accuracy");
  }
  if (std::ranges::find(known, metric.name) != known.end()) return;
  throw ConfigError{"the metric '" + metric.name + "' is not measured in this run, only " + joined(known) +
                    (metric.name.starts_with("validation") && !data.parts.held_out
                         ? "; --validate 0.1 holds out a tenth of the data for validation"
                         : "")};
}

std::string title_of(Checkpoint const& run) {
  return run.model.config.name.empty() ? "Training" : run.model.config.name;
}

/// The text of the config, and what was changed in it; empty if it is a message, a pipe that was read before, or very
/// long.
std::string text_of(RunOptions const& options) {
  std::string const& config = options.config;
  std::ifstream file{config, std::ios::binary};
  std::string text(1 << 20, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (!file.eof() || text.find('\0') != std::string::npos || config == "/dev/stdin") return "";
  for (std::string const& change : options.changes) text += "\n# --set " + change;
  return text;
}

/// Adds what is measured and what follows from it.
void monitor(Trainer& trainer, Options const& options, Checkpoint const& run, Data const& data,
             data::Progress& progress) {
  std::vector<std::pair<std::string, train::Validation*>> judges;
  auto const judge = [&](char const* title, data::Source const* source) {
    if (source) judges.emplace_back(title, &trainer.every(train::epochs(1), train::Validation{*source, title}));
  };
  judge("validation", data.parts.held_out.get());
  judge("test", data.test.get());
  bool const labels = trainer.has_classes(data.prepared->target_shape());
  auto const check = [&](Metric const& metric) { check_metric(metric, data, run.loss.has_value(), labels); };
  if (auto const& stop = run.monitoring.early_stopping) {
    check(stop->metric);
    trainer.every(train::epochs(1), train::StopEarly{*stop});
  }
  if (auto const& reduce = run.monitoring.reduce_on_plateau) {
    check(reduce->metric);
    trainer.every(train::epochs(1), train::ReduceRate{*reduce});
  }
  if (options.run.metric && options.best.empty() && !run.monitoring.early_stopping)
    throw CLI::ValidationError("--metric", "is for --patience or --keep-best");
  if (!options.best.empty()) {
    Metric const metric = options.run.metric                  ? metric_called(*options.run.metric)
                          : run.monitoring.early_stopping     ? run.monitoring.early_stopping->metric
                          : data.parts.held_out || !data.test ? Metric{}
                                                              : Metric{"test/loss"};
    check(metric);
    trainer.every(train::epochs(1), train::SaveBest{options.best, metric});
  }
  data::Source const* const judged = data.parts.held_out ? data.parts.held_out.get() : data.test.get();
  if (!options.log.empty()) trainer.every(train::epochs(1), train::CsvLog{options.log});
  if (!options.tensorboard.empty())
    trainer.every(train::epochs(1), train::TensorBoard{options.tensorboard, {.pictures = judged}});
  if (!options.html.empty()) {
    trainer.every(
        train::epochs(1),
        train::HtmlReport{options.html,
                          {.title = title_of(run), .configuration = text_of(options.run), .validation = judged}});
  }
  if (options.live && train::can_show_chart()) {
    train::LiveChart chart{.colours = train::can_show_colours()};
    if (!data.parts.held_out && data.test) chart.statistics = {"training/loss", "test/loss"};
    progress.show_above([&trainer, chart](int width) { return live_chart(trainer.statistics(), chart, width); });
  }
  trainer.every(train::steps(1), [&progress](Trainer& now) {
    progress.update(train::epoch_label(now), now.samples_done(), *now.epoch_score().loss);
  });
  trainer.every(train::epochs(1), [&progress, judges](Trainer& now) {
    std::string line = train::epoch_label(now) + "  " + to_string(now.epoch_score());
    for (auto const& [title, validation] : judges) line += "  " + title + " " + to_string(validation->score());
    progress.print(line);
  });
}

void train_run(Options const& options) {
  Files files;
  files.reads("--config", options.run.config);
  files.reads("--resume", options.run.resume);
  files.reads_data("--data", options.run.data);
  files.reads_data("--test", options.test);
  files.writes("--save", options.save);
  if (!options.checkpoint.empty()) files.writes("--checkpoint", options.checkpoint, "--resume");
  if (!options.best.empty()) files.writes("--keep-best", options.best);
  if (!options.report.empty()) files.writes("--report", options.report);
  if (!options.log.empty()) files.writes("--log", options.log);
  if (!options.html.empty()) files.writes("--html", options.html);
  if (!options.tensorboard.empty()) files.writes_into("--tensorboard", options.tensorboard);
  files.check_writable();
  Checkpoint run = read_run(options.run, files);
  Data data = open_all(options, run);
  if (auto& stop = run.monitoring.early_stopping; stop && !options.run.metric && !data.parts.held_out && data.test) {
    if (stop->metric == Metric{}) stop->metric = {"test/loss"};
  }
  dynamic::Solver solver = make_solver(options.run, options.computing, run, data.prepared->sample_shape());
  train::check_fits(solver.network(), run.loss, *data.prepared, run.data);
  if (data.tested) train::check_fits(solver.network(), run.loss, *data.tested, options.test);

  Trainer trainer{solver,
                  data.training(),
                  {.epochs = run.epochs,
                   .steps = options.steps,
                   .batch = run.batch,
                   .seed = run.seed,
                   .prefetch = options.prefetch,
                   .average = run.monitoring.average,
                   .transforms = run.model.transforms}};
  data::Progress progress{stdout,
                          options.steps > 0 ? std::min(trainer.samples(), static_cast<Index>(options.steps) * run.batch)
                                            : trainer.samples(),
                          static_cast<Index>(run.epoch) * data.training().size() + static_cast<Index>(run.position)};
  monitor(trainer, options, run, data, progress);
  train::Snapshot* snapshot = nullptr;
  if (!options.checkpoint.empty()) {
    snapshot = &trainer.every({.steps = static_cast<std::uint64_t>(options.checkpoint_every), .epochs = 1},
                              train::Snapshot{options.checkpoint});
    snapshot->complete = [&run](Checkpoint& checkpoint) {
      checkpoint.data = run.data;
      checkpoint.monitoring = run.monitoring;
    };
  }
  auto const finish = [&](bool all) {
    Attempts attempt;
    attempt([&] {
      if (snapshot) (*snapshot)(trainer);
    });
    if (all) attempt([&] { persist::write_model(options.save, trainer.model()); });
    attempt([&] {
      if (!options.report.empty()) write_report(options.report, trainer);
    });
    attempt.rethrow();
    progress.finish();
  };
  listen(trainer, options.checkpoint, snapshot, finish);
  if (!options.run.resume.empty())
    with_context([&] { trainer.resume(run); }, [&](Error& error) { error.in_file(options.run.resume); });

  // What saving would throw at the end is thrown before the first step.
  auto const encode = [](std::string const& file, auto const& content) {
    with_context([&] { persist::serialize(content()); }, [&](Error& error) { error.in_file(file); });
  };
  encode(options.save, [&] { return trainer.model(); });
  if (snapshot) encode(options.checkpoint, [&] { return trainer.checkpoint(); });
  run.model = {}, run.optimizer_state = {}, run.states = {};  // the trainer has them now

  Index parameters = 0;
  for (auto const& weight : solver.network().executable().weights()) parameters += weight.shape.size();
  std::printf("%s of %s, %s, batch %td, %s\n", counted(data.training().size(), "sample").c_str(),
              to_string(data.training().sample_shape()).c_str(), counted(parameters, "parameter").c_str(), run.batch,
              options.computing.backend.c_str());
  std::uint64_t const before = trainer.iteration();
  trainer.run();
  finish(true);
  if (trainer.iteration() == before && trainer.stopped().empty()) std::puts("All epochs or steps were done before.");
  if (!trainer.stopped().empty()) std::printf("Stopped early: %s\n", trainer.stopped().c_str());
  std::printf("Saved the network after %s steps to %s; waited for data %.1f %% of the time\n",
              std::to_string(trainer.iteration()).c_str(), options.save.c_str(),
              trainer.seconds() > 0 ? 100 * trainer.seconds_waited() / trainer.seconds() : 0);
}

}  // namespace

void add_train(CLI::App& app) {
  auto const options = std::make_shared<Options>();
  RunOptions& run = options->run;
  auto* const command = app.add_subcommand("train", "Trains the network of a config, or continues from a checkpoint");
  add_run(*command, run);
  command->add_option("--test", options->test, "Data to test on after each epoch")->type_name(spec)->group(of_data);
  command->add_option("--save", options->save, "File for the trained network")
      ->type_name(file)
      ->required()
      ->group(of_files);
  command->add_option("--steps", options->steps, "Stop after this many steps, including those before a checkpoint")
      ->type_name(number)
      ->check(at_least_1())
      ->group(of_run);
  auto* const checkpoint =
      command
          ->add_option("--checkpoint", options->checkpoint,
                       "File for a checkpoint after each epoch, and when the run is interrupted: Ctrl-C, SIGTERM, "
                       "SIGHUP, or output that nobody reads")
          ->type_name(file)
          ->group(of_files);
  command->add_option("--checkpoint-every", options->checkpoint_every, "Also write the checkpoint after every N steps")
      ->type_name(number)
      ->check(at_least_1())
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
      ->add_option("--metric", run.metric,
                   "What --patience and --keep-best watch: loss or accuracy, as validation/loss, test/accuracy, "
                   "training/accuracy, ...; default: validation/loss")
      ->type_name(name)
      ->group(of_monitoring);
  command->add_option("--min-delta", run.min_delta, "The smallest improvement of the metric that counts; default: 0")
      ->type_name(number)
      ->group(of_monitoring);
  command->add_option("--keep-best", options->best, "File for the network with the best metric so far")
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
  command->add_option("--report", options->report, "SVG file for the curves of loss and accuracy")
      ->type_name(file)
      ->group(of_monitoring);
  command->add_option("--log", options->log, "CSV file for all statistics")->type_name(file)->group(of_monitoring);
  command
      ->add_option("--html", options->html,
                   "A page for a browser: curves, layers, memory, and of validation or test the worst samples")
      ->type_name(file)
      ->group(of_monitoring);
  command->add_option("--tensorboard", options->tensorboard, "Folder for event files of TensorBoard")
      ->type_name("DIR")
      ->group(of_monitoring);
  command->add_flag("--live", options->live, "Draw the loss above the progress bar")->group(of_monitoring);
  add_reading(*command, options->reading);
  add_computing(*command, options->computing, false);
  command->footer(
      "Examples:\n"
      "  coldpress train --config net.capnp.txt --data mnist:DIR --save net.juice\n"
      "  coldpress train --config net.capnp.txt --validate 0.1 --patience 5 --keep-best best.juice --save net.juice\n"
      "  coldpress train --config net.capnp.txt --set solver.baseLr=0.01 --checkpoint run --save net.juice\n"
      "  coldpress train --resume run --trust-paths --epochs 20 --checkpoint run --save net.juice\n\n" +
      app.get_footer());
  command->callback([options] { train_run(*options); });
}

}  // namespace coldpress::command
