#include "training.hpp"

#include "convert_formats.hpp"
#include "ending.hpp"
#include "input_arrays.hpp"
#include "print.hpp"
#include "ranks.hpp"
#include "report.hpp"

#include <coldpress/core/counted.hpp>
#include <coldpress/data/progress.hpp>
#include <coldpress/distributed/start.hpp>

#include <cstdio>
#include <fstream>

namespace coldpress::command {
namespace {

using persist::Checkpoint;
using train::Trainer;

/// The data that a run learns from, and the data that it is judged by.
struct Data : RunData {
  std::unique_ptr<data::Source> test = {}, tested = {};  // the latter as the network sees it
};

Data open_all(TrainOptions const& options, Checkpoint& run) {
  Data data{open_data(run, options.reading)};
  if (options.test.empty()) return data;
  data.test = data::open_source(
      data_for(options.test, run.model.config, train::inputs_for(run.loss.has_value()), file_of(options.run)),
      options.reading);
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
  train::NamedValues const own = trainer.solver().statistics(trainer.solver().sums());
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
  if (trainer.iteration() == before && trainer.stopped().empty()) {
    std::string const limit = options.steps > 0 ? " or " + counted(options.steps, "step") : "";
    std::printf("Nothing was trained: the run was to end after %s%s, and %s and %s were done before.\n",
                counted(run.epochs, "epoch").c_str(), limit.c_str(), counted(run.epoch, "epoch").c_str(),
                counted(before, "step").c_str());
  }
  if (!trainer.stopped().empty()) std::printf("Stopped early: %s\n", trainer.stopped().c_str());
  if (Index const each = run.solver.accumulate; each > 1 && trainer.iteration() < static_cast<std::uint64_t>(each))
    show("note: no weight was updated, since that takes the gradients of " + counted(each, "step") +
         " (solver.accumulate), and the run has had " + counted(trainer.iteration(), "step"));
  WeightAverage const& average = run.monitoring.average;
  auto const whole_epochs = static_cast<Index>(trainer.epochs_done());
  if (average.kind == WeightAverage::Kind::swa && whole_epochs <= average.from_epoch)
    show("note: nothing was averaged, since that begins with the end of epoch " +
         std::to_string(average.from_epoch + 1) + " (average.swa), and the run has had " +
         counted(whole_epochs, "whole epoch"));
  tell(trainer, watchers, options, run.monitoring.early_stopping ? &*run.monitoring.early_stopping : nullptr);
  if (!ranks.communicator()) return;
  auto const [hidden, waited] = ranks.communicator()->travel_time();
  if (hidden + waited < 0.05) return;
  std::printf("Gradients travelled for %.1f s, of which at least %.0f %% were hidden behind the computation\n",
              hidden + waited, 100 * hidden / (hidden + waited));
}

}  // namespace

void train_run(TrainOptions const& options) {
  Ranks const ranks{options.rank_timeout};
  ranks.run([&] { train_on(ranks, options); });
}

}  // namespace coldpress::command
