// coldpress train: trains a network from a config, or from a checkpoint on, and saves it to a file.

#include "commands.hpp"
#include "convert_formats.hpp"
#include "ending.hpp"
#include "input_arrays.hpp"
#include "print.hpp"
#include "ranks.hpp"
#include "report.hpp"
#include "run.hpp"

#include <coldpress/core/counted.hpp>
#include <coldpress/data/progress.hpp>
#include <coldpress/distributed/start.hpp>
#include <coldpress/train.hpp>

#include <charconv>
#include <cstdio>
#include <fstream>

namespace coldpress::command {
namespace {

using persist::Checkpoint;
using train::Trainer;

/// The files that a run writes; empty: none.
struct Outputs {
  std::string save, checkpoint, best, report, log, html, tensorboard;
};

struct TrainOptions {
  RunOptions run;
  std::string test;
  Outputs outputs;
  bool keeps_best = false;  // on any rank, while only rank 0 has outputs
  bool live = false;
  train::When checkpoint_when{.epochs = 1};
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

Data open_all(TrainOptions const& options, Checkpoint& run) {
  Data data{open_data(run, options.reading)};
  if (options.test.empty()) return data;
  data.test =
      data::open_source(data_for(options.test, run.model.config, !run.loss, file_of(options.run)), options.reading);
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
void check_metric(Metric const& metric, Data const& data, bool labels, train::NamedValues const& own) {
  std::vector<std::string> known{"training/loss_epoch"};
  if (labels) known.push_back("training/accuracy");
  for (auto const& [judge, there] :
       {std::pair{"validation", data.parts.held_out != nullptr}, {"test", data.test != nullptr}}) {
    if (there) known.push_back(std::string{judge} + "/loss");
    if (there && labels) known.push_back(std::string{judge} + "/accuracy");
    for (auto const& [name, value] : own)
      if (there) known.push_back(std::string{judge} + "/" + name);
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

/// Those of a run that know which of its networks is the best; null: there are none.
struct Watchers {
  train::StopEarly const* stop = nullptr;
  train::SaveBest const* best = nullptr;
};

/// Adds what is measured, what follows from it, and what is written.
Watchers monitor(Trainer& trainer, TrainOptions const& options, Checkpoint const& run, Data const& data,
                 data::Progress& progress) {
  Watchers watchers;
  Outputs const& outputs = options.outputs;
  std::vector<std::pair<std::string, train::Validation*>> judges;
  auto const judge = [&](char const* title, data::Source const* source) {
    if (source) judges.emplace_back(title, &trainer.every(train::epochs(1), train::Validation{*source, title}));
  };
  judge("validation", data.parts.held_out.get());
  judge("test", data.test.get());
  bool const labels = trainer.has_classes(data.prepared->target_shape());
  train::NamedValues const own = trainer.solver().statistics();
  auto const check = [&](Metric const& metric) { check_metric(metric, data, labels, own); };
  if (auto const& stop = run.monitoring.early_stopping) {
    check(stop->metric);
    watchers.stop = &trainer.every(train::epochs(1), train::StopEarly{*stop});
  }
  if (auto const& reduce = run.monitoring.reduce_on_plateau) {
    check(reduce->metric);
    trainer.every(train::epochs(1), train::ReduceRate{*reduce});
  }
  if (options.run.metric && !options.keeps_best && !run.monitoring.early_stopping)
    throw CLI::ValidationError("--metric", "is for --patience or --keep-best");
  if (options.keeps_best) {
    Metric const metric = options.run.metric                  ? metric_called(*options.run.metric, run.model.config)
                          : run.monitoring.early_stopping     ? run.monitoring.early_stopping->metric
                          : data.parts.held_out || !data.test ? Metric{}
                                                              : Metric{"test/loss"};
    check(metric);
    if (!outputs.best.empty()) watchers.best = &trainer.every(train::epochs(1), train::SaveBest{outputs.best, metric});
  }
  data::Source const* const judged = data.parts.held_out ? data.parts.held_out.get() : data.test.get();
  if (!outputs.log.empty()) trainer.every(train::epochs(1), train::CsvLog{outputs.log});
  if (!outputs.tensorboard.empty())
    trainer.every(train::epochs(1), train::TensorBoard{outputs.tensorboard, {.pictures = judged}});
  if (!outputs.html.empty()) {
    trainer.every(
        train::epochs(1),
        train::HtmlReport{outputs.html,
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
  return watchers;
}

/// Says whose weights are in the files: those after the last step, or the best ones.
void tell(Trainer const& trainer, Watchers const& watchers, TrainOptions const& options,
          EarlyStopping const* stopping) {
  auto const text = [](train::Best const& best) {
    return "the best network, that of step " + std::to_string(best.iteration()) + " (" + best.metric().name + " " +
           to_string(static_cast<float>(*best.value())) + "),";
  };
  if (watchers.best && watchers.best->best().value()) {
    std::printf("Saved %s to %s\n", text(watchers.best->best()).c_str(), options.outputs.best.c_str());
  } else if (watchers.best) {
    std::string const& metric = watchers.best->best().metric().name;
    show("note: --keep-best has not written " + options.outputs.best + ", since " + metric +
         (trainer.statistics().find(metric) ? " has never been a number"
                                            : " is measured at the end of each epoch, and the run ended after " +
                                                  counted(trainer.iteration(), "step") + ", before that of the first"));
  }
  bool const restored = watchers.stop && stopping->restore_best && watchers.stop->best().value();
  std::string const of =
      restored ? text(watchers.stop->best()) : "the network after " + counted(trainer.iteration(), "step");
  std::printf("Saved %s to %s; waited for data %.1f %% of the time\n", of.c_str(), options.outputs.save.c_str(),
              trainer.seconds() > 0 ? 100 * trainer.seconds_waited() / trainer.seconds() : 0);
}

/// Compares what the ranks train, whose steps are divided among them. Says how.
std::string compare(dynamic::Solver const& solver, Trainer const& trainer, Ranks const& ranks,
                    TrainOptions const& options, Checkpoint const& run, Data const& data) {
  if (!ranks.communicator()) return "";
  Checkpoint now = trainer.checkpoint();
  now.monitoring = run.monitoring;
  distributed::Facts facts = distributed::facts_of(now);
  facts.push_back(distributed::fact_of_sharding(solver));
  facts.push_back({"--steps", std::to_string(options.steps)});
  for (auto const& [name, source] : {std::pair{"the data", &data.training()},
                                     {"the validation data", data.parts.held_out.get()},
                                     {"the test data", data.test.get()}}) {
    if (!source) continue;
    auto const more = distributed::facts_of_data(name, *source);
    facts.insert(facts.end(), more.begin(), more.end());
  }
  distributed::check_same(*ranks.communicator(), facts);
  Index const samples = solver.options().microbatch,
              parts = (std::min(trainer.options().batch, data.training().size()) + samples - 1) / samples;
  std::string text = ", " + counted(parts, "part") + " on " + counted(ranks.size(), "rank");
  if (parts < ranks.size()) text += ", of which " + std::to_string(ranks.size() - parts) + " have none";
  return text;
}

void train_on(Ranks const& ranks, TrainOptions options) {
  options.keeps_best = !options.outputs.best.empty();
  if (!ranks.leads()) options.outputs = {};
  Outputs const& outputs = options.outputs;
  Files files;
  files.reads("--config", options.run.config);
  files.reads("--resume", options.run.resume);
  files.reads("--weights", options.run.weights);
  files.reads_data("--data", options.run.data);
  files.reads_data("--test", options.test);
  if (ranks.leads()) files.writes("--save", outputs.save);
  if (!outputs.checkpoint.empty()) files.writes("--checkpoint", outputs.checkpoint, "--resume");
  if (!outputs.best.empty()) files.writes("--keep-best", outputs.best);
  if (!outputs.report.empty()) files.writes("--report", outputs.report);
  if (!outputs.log.empty()) files.writes("--log", outputs.log);
  if (!outputs.html.empty()) files.writes("--html", outputs.html);
  if (!outputs.tensorboard.empty()) files.writes_into("--tensorboard", outputs.tensorboard);
  for (auto const& [option, path] : {std::pair{"--save", outputs.save}, {"--keep-best", outputs.best}})
    check_ending(option, path, {"juice"});
  files.check_writable();
  Checkpoint run = read_run(options.run, files);
  Data data = open_all(options, run);
  if (auto& stop = run.monitoring.early_stopping; stop && !options.run.metric && !data.parts.held_out && data.test) {
    if (stop->metric == Metric{}) stop->metric = {"test/loss"};
  }
  dynamic::Solver solver = make_solver(options.run, options.computing, run, *data.prepared);
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
                   .transforms = run.model.transforms,
                   .ranks = ranks.communicator()}};
  data::Progress progress{stdout,
                          options.steps > 0 ? std::min(trainer.samples(), static_cast<Index>(options.steps) * run.batch)
                                            : trainer.samples(),
                          static_cast<Index>(run.epoch) * data.training().size() + static_cast<Index>(run.position)};
  Watchers const watchers = monitor(trainer, options, run, data, progress);
  train::Snapshot* snapshot = nullptr;
  if (!outputs.checkpoint.empty()) {
    snapshot = &trainer.every(options.checkpoint_when, train::Snapshot{outputs.checkpoint});
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
      if (all && !outputs.save.empty()) persist::write_model(outputs.save, trainer.model());
    });
    attempt([&] {
      if (!outputs.report.empty()) write_report(outputs.report, trainer);
    });
    attempt.rethrow();
    progress.finish();
  };
  listen(trainer, ranks, outputs.checkpoint, snapshot, finish);
  if (!options.run.resume.empty())
    with_context([&] { trainer.resume(run); }, [&](Error& error) { error.in_file(options.run.resume); });

  std::string const division = compare(solver, trainer, ranks, options, run, data);

  // What saving would throw at the end is thrown before the first step.
  auto const encode = [](std::string const& file, auto const& content) {
    with_context([&] { persist::serialize(content()); }, [&](Error& error) { error.in_file(file); });
  };
  if (!outputs.save.empty()) encode(outputs.save, [&] { return trainer.model(); });
  if (snapshot) encode(outputs.checkpoint, [&] { return trainer.checkpoint(); });
  run.model = {}, run.optimizer_state = {}, run.states = {};  // the trainer has them now

  if (train::lacks_logarithm(solver.network().config(), run.loss)) {
    show(
        "note: the loss negativeLogLikelihood takes logarithms of probabilities, and the network ends in a softmax, "
        "which computes the probabilities themselves; with logSoftmax in its place, the loss is the cross entropy");
  }
  Index parameters = 0;
  for (auto const& weight : solver.network().executable().weights()) parameters += weight.shape.size();
  std::printf("%s of %s, %s, batch %td%s, %s\n", counted(data.training().size(), "sample").c_str(),
              shape_text(data.training()).c_str(), counted(parameters, "parameter").c_str(), run.batch,
              division.c_str(), options.computing.backend.c_str());
  std::uint64_t const before = trainer.iteration();
  trainer.run();
  finish(true);
  if (trainer.iteration() == before && trainer.stopped().empty()) std::puts("All epochs or steps were done before.");
  if (!trainer.stopped().empty()) std::printf("Stopped early: %s\n", trainer.stopped().c_str());
  tell(trainer, watchers, options, run.monitoring.early_stopping ? &*run.monitoring.early_stopping : nullptr);
  if (!ranks.communicator()) return;
  auto const [hidden, waited] = ranks.communicator()->travel_time();
  if (hidden + waited < 0.05) return;
  std::printf("Gradients travelled for %.1f s, of which at least %.0f %% were hidden behind the computation\n",
              hidden + waited, 100 * hidden / (hidden + waited));
}

void train_run(TrainOptions const& options) {
  Ranks const ranks{options.rank_timeout};
  ranks.run([&] { train_on(ranks, options); });
}

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
