// coldpress train: trains a network from a config, or from a checkpoint on, and saves it to a file.

#include "commands.hpp"
#include "ending.hpp"
#include "print.hpp"
#include "ranks.hpp"
#include "report.hpp"
#include "run.hpp"

#include <coldpress/core/counted.hpp>
#include <coldpress/data/progress.hpp>
#include <coldpress/distributed/start.hpp>
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
  double rank_timeout = static_cast<double>(distributed::usual_limit.count());
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

/// Adds what is measured and what follows from it, and what is written if this rank `writes`.
void monitor(Trainer& trainer, Options const& options, Checkpoint const& run, Data const& data,
             data::Progress& progress, bool writes) {
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
    if (writes) trainer.every(train::epochs(1), train::SaveBest{options.best, metric});
  }
  data::Source const* const judged = data.parts.held_out ? data.parts.held_out.get() : data.test.get();
  if (!options.log.empty() && writes) trainer.every(train::epochs(1), train::CsvLog{options.log});
  if (!options.tensorboard.empty() && writes)
    trainer.every(train::epochs(1), train::TensorBoard{options.tensorboard, {.pictures = judged}});
  if (!options.html.empty() && writes) {
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

/// Compares what the ranks train, and divides the steps among them. Says how.
std::string divide(dynamic::Solver& solver, Trainer const& trainer, Ranks const& ranks, Options const& options,
                   data::Source const& data) {
  if (!ranks.communicator()) return "";
  distributed::Facts facts = distributed::facts_of(trainer.checkpoint());
  facts.push_back(distributed::fact_of_data(data.size(), data.sample_shape(), data.target_shape()));
  facts.push_back({"--steps", std::to_string(options.steps)});
  distributed::check_same(*ranks.communicator(), facts);
  with_context([&] { solver.distribute_over(ranks.communicator()); },
               [&](Error& error) { error.in_file(options.run.config); });
  Index const samples = std::as_const(solver).options().microbatch,
              parts = (trainer.options().batch + samples - 1) / samples;
  std::string text = ", " + counted(parts, "part") + " on " + counted(ranks.size(), "rank");
  if (parts < ranks.size()) text += ", of which " + std::to_string(ranks.size() - parts) + " have none";
  return text;
}

void train_on(Ranks const& ranks, Options const& options) {
  bool const writes = ranks.leads();
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
  if (writes) files.check_writable();
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
  monitor(trainer, options, run, data, progress, writes);
  train::Snapshot* snapshot = nullptr;
  if (!options.checkpoint.empty() && writes) {
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
    attempt([&] {
      if (all && writes) persist::write_model(options.save, trainer.model());
    });
    attempt([&] {
      if (!options.report.empty() && writes) write_report(options.report, trainer);
    });
    attempt.rethrow();
    progress.finish();
  };
  listen(trainer, ranks, options.checkpoint, snapshot, finish);
  if (!options.run.resume.empty())
    with_context([&] { trainer.resume(run); }, [&](Error& error) { error.in_file(options.run.resume); });

  std::string const division = divide(solver, trainer, ranks, options, data.training());

  // What saving would throw at the end is thrown before the first step.
  auto const encode = [](std::string const& file, auto const& content) {
    with_context([&] { persist::serialize(content()); }, [&](Error& error) { error.in_file(file); });
  };
  encode(options.save, [&] { return trainer.model(); });
  if (snapshot) encode(options.checkpoint, [&] { return trainer.checkpoint(); });
  run.model = {}, run.optimizer_state = {}, run.states = {};  // the trainer has them now

  Index parameters = 0;
  for (auto const& weight : solver.network().executable().weights()) parameters += weight.shape.size();
  std::printf("%s of %s, %s, batch %td%s, %s\n", counted(data.training().size(), "sample").c_str(),
              to_string(data.training().sample_shape()).c_str(), counted(parameters, "parameter").c_str(), run.batch,
              division.c_str(), options.computing.backend.c_str());
  std::uint64_t const before = trainer.iteration();
  trainer.run();
  finish(true);
  if (trainer.iteration() == before && trainer.stopped().empty()) std::puts("All epochs or steps were done before.");
  if (!trainer.stopped().empty()) std::printf("Stopped early: %s\n", trainer.stopped().c_str());
  std::printf("Saved the network after %s steps to %s; waited for data %.1f %% of the time\n",
              std::to_string(trainer.iteration()).c_str(), options.save.c_str(),
              trainer.seconds() > 0 ? 100 * trainer.seconds_waited() / trainer.seconds() : 0);
}

void train_run(Options const& options) {
  Ranks const ranks{options.rank_timeout};
  ranks.run([&] { train_on(ranks, options); });
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
  command
      ->add_option(
          "--rank-timeout", options->rank_timeout,
          "Under mpirun or srun: seconds for which a process waits for another, also while one reads or writes "
          "files, before the run fails")
      ->type_name(number)
      ->check(CLI::Range(0.1, 1e6).description(""))
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
