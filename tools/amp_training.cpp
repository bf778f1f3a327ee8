// Reads both sounds, finds their delay, trains with checkpoints, and prints how close the model comes.
#include "amp_training.hpp"

#include "convert_formats.hpp"
#include "ending.hpp"
#include "solver_text.hpp"
#include "writable.hpp"

#include <coldpress/convert/nam.hpp>
#include <coldpress/core/counted.hpp>
#include <coldpress/data/progress.hpp>
#include <coldpress/data/segments.hpp>
#include <coldpress/train.hpp>

#include <cmath>
#include <cstdio>

namespace coldpress::command {
namespace {

using persist::Checkpoint;
using train::Trainer;

std::string rounded(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*g", digits, value);
  return text;
}

/// Reads the files, corrects the delay, prints it, and returns it.
Index open_signals(AmpOptions const& options, data::SignalPair& signals) {
  signals = data::read_signals(options.input, options.output);
  auto const rate = static_cast<double>(signals.sample_rate);
  auto const steps = static_cast<Index>(std::min(signals.input.size(), signals.output.size()));
  Index const delay =
      options.delay ? *options.delay : data::delay_of(signals, options.input, options.output, "--delay N");
  std::printf("%.1f s at %td Hz; the output comes %s (%.2f ms) %s the input%s\n", static_cast<double>(steps) / rate,
              signals.sample_rate, counted(std::abs(delay), "sample").c_str(),
              1000 * static_cast<double>(std::abs(delay)) / rate, delay < 0 ? "before" : "after",
              options.delay ? ", as given" : "");
  data::correct_delay(signals, delay);
  return delay;
}

/// The signals as data of a checkpoint, whose options must be the same when it continues.
std::string spec_of(AmpOptions const& options, Index delay) {
  return "sound:" + options.input + "," + options.output + "?length=" + std::to_string(options.segment) +
         "&run-in=" + std::to_string(amp_run_in(options.architecture)) + "&delay=" + std::to_string(delay);
}

/// The run as it begins, or throws MismatchError if the checkpoint is of another one.
Checkpoint begin(AmpOptions const& options, Index delay, Index sample_rate, Index steps_per_epoch) {
  Checkpoint run;
  run.model.config = amp_training(options.architecture, options.segment, options.losses);
  run.solver.solver = Adam{};
  run.solver.base_lr = options.rate;
  // The values of one segment fill the cache. On a GPU a step is one pass.
  if (!options.computing.backend.starts_with("cuda")) run.solver.microbatch = 1;
  run.solver.lr_policy = policy::Step{.gamma = options.decay, .stepsize = steps_per_epoch};
  run.data = spec_of(options, delay);
  run.epochs = options.epochs, run.batch = options.batch, run.seed = options.seed;
  run.monitoring.validate = options.validate;
  if (options.resume.empty()) return run;

  Checkpoint kept = persist::read_checkpoint(options.resume);
  auto const check = [&](bool same, std::string const& what) {
    if (!same) throw MismatchError{"was made with " + what + "; repeat the options of the first run"};
  };
  auto const options_of = [](std::string const& spec) { return spec.substr(std::min(spec.rfind('?'), spec.size())); };
  with_file(options.resume, [&] {
    auto const kept_rate = convert::nam_metadata_of(kept.model).sample_rate;  // older checkpoints do not say it
    if (kept_rate && *kept_rate != static_cast<double>(sample_rate))
      throw MismatchError{"was made of sounds at " + rounded(*kept_rate, 9) + " Hz, but " + options.input + " and " +
                          options.output + " are at " + std::to_string(sample_rate) + " Hz"};
    std::string const other = dynamic::difference(kept.model.config, run.model.config);
    if (!other.empty()) throw MismatchError{"is of another network: " + other};
    if (kept.solver != run.solver) throw MismatchError{difference(kept.solver, run.solver)};
    check(kept.batch == run.batch, "batch " + std::to_string(kept.batch));
    check(kept.seed == run.seed, "seed " + std::to_string(kept.seed));
    check(kept.monitoring.validate == run.monitoring.validate, "validate " + rounded(kept.monitoring.validate, 6));
    check(options_of(kept.data) == options_of(run.data), "other segments, " + options_of(kept.data));
  });
  kept.epochs = options.epochs;
  return kept;
}

dynamic::Solver make_solver(AmpOptions const& options, Checkpoint const& run) {
  dynamic::Backend const backend = options.computing.open();
  if (!options.resume.empty()) return persist::solver_of(backend, run);
  return persist::solver_of(backend,
                            persist::Training{.network = run.model.config, .solver = run.solver, .seed = run.seed});
}

/// The root mean square of a sound in dB; nothing for silence.
std::optional<double> loudness_of(std::vector<float> const& sound) {
  double squares = 0;
  for (float const value : sound) squares += static_cast<double>(value) * static_cast<double>(value);
  if (!(squares > 0)) return {};
  return 10 * std::log10(squares / static_cast<double>(sound.size()));
}

std::string configuration(AmpOptions const& options, Index delay) {
  return "architecture " + options.architecture + "\ninput " + options.input + "\noutput " + options.output +
         "\ndelay " + counted(delay, "sample") + "\nmean squared error " +
         rounded(static_cast<double>(options.losses.squares), 6) + ", error to signal ratio " +
         rounded(static_cast<double>(options.losses.ratio), 6) + " (pre-emphasis " +
         rounded(static_cast<double>(options.losses.pre_emphasis), 6) + "), spectra " +
         rounded(static_cast<double>(options.losses.spectra), 6) + "\nAdam, learning rate " +
         rounded(static_cast<double>(options.rate), 6) + ", times " + rounded(static_cast<double>(options.decay), 6) +
         " after each epoch\n";
}

}  // namespace

void train_amp(AmpOptions const& options) {
  check_alone("coldpress amp train");
  Files files;
  files.reads("--input", options.input);
  files.reads("--output", options.output);
  files.reads("--resume", options.resume);
  files.writes("--save", options.save);
  if (!options.checkpoint.empty()) files.writes("--checkpoint", options.checkpoint, "--resume");
  if (!options.best.empty()) files.writes("--keep-best", options.best);
  if (!options.html.empty()) files.writes("--html", options.html);
  if (!options.log.empty()) files.writes("--log", options.log);
  for (auto const& [option, path] : {std::pair{"--save", options.save}, {"--keep-best", options.best}})
    if (!path.empty()) check_ending(option, path, {"juice", "nam"});
  files.check_writable();

  data::SignalPair signals;
  Index const delay = open_signals(options, signals), sample_rate = signals.sample_rate;
  auto const loudness = loudness_of(signals.output);
  auto const all =
      data::segments(std::move(signals), {.length = options.segment, .run_in = amp_run_in(options.architecture)});
  auto const parts = data::split_end(*all, options.validate);
  with_file(options.output, [&] {
    if (!loudness) throw DataError{"is silent, so that there is nothing to learn from"};
    if (!loudness_of(data::targets_of(*parts.held_out)))
      throw DataError{
          "is silent in the part that is held out, so that no model can be judged by it: choose another "
          "fraction with --validate, or cut off the silence"};
  });
  Checkpoint run = begin(options, delay, sample_rate, (parts.training->size() + options.batch - 1) / options.batch);
  dynamic::Solver solver = make_solver(options, run);
  Trainer trainer{solver,
                  *parts.training,
                  {.epochs = run.epochs, .batch = run.batch, .seed = run.seed, .prefetch = options.prefetch}};
  data::Progress progress{stdout, trainer.samples(),
                          static_cast<Index>(run.epoch) * parts.training->size() + static_cast<Index>(run.position)};

  Metric const metric{"validation/esr"};
  auto& judge = trainer.every(train::epochs(1), train::SignalError{*parts.held_out});
  auto const& stop = trainer.every(train::epochs(1),
                                   train::StopEarly{{.metric = metric, .patience = options.patience.value_or(most)}});
  trainer.every(train::end(), [&judge](Trainer& now) { judge.evaluate(now); });  // of the best network
  auto const write = [&](std::string const& path, persist::Model model) {
    model.config = amp_stream(options.architecture);
    write_amp(path, {std::move(model), sample_rate, judge.ratio(), loudness});
  };
  if (!options.best.empty()) trainer.every(train::epochs(1), train::SaveBest{options.best, metric}).write = write;
  if (!options.log.empty()) trainer.every(train::epochs(1), train::CsvLog{options.log});
  if (!options.html.empty()) {
    auto const charts = [&judge, sample_rate] { return judge.charts(sample_rate); };
    trainer.every(train::epochs(1),
                  train::HtmlReport{options.html,
                                    {.title = "Model of an amplifier",
                                     .configuration = configuration(options, delay),
                                     .charts = {{"What was held out, and what the model makes of it", charts}}}});
  }
  trainer.every(train::steps(1), [&progress](Trainer& now) {
    progress.update(train::epoch_label(now), now.samples_done(), *now.epoch_score().loss);
  });
  trainer.every(train::epochs(1), [&progress, &judge](Trainer& now) {
    progress.print(train::epoch_label(now) + "  " + to_string(now.epoch_score()) + "  error to signal ratio " +
                   rounded(judge.ratio(), 4));
  });
  train::Snapshot* snapshot = nullptr;
  if (!options.checkpoint.empty()) {
    snapshot = &trainer.every(train::epochs(1), train::Snapshot{options.checkpoint});
    snapshot->complete = [data = run.data, monitoring = run.monitoring, sample_rate](Checkpoint& checkpoint) {
      checkpoint.model.metadata = convert::entries_of({.sample_rate = static_cast<double>(sample_rate)});
      checkpoint.data = data;
      checkpoint.monitoring = monitoring;
    };
  }
  Ranks const alone;
  listen(trainer, alone, options.checkpoint, snapshot, [&](bool) {
    if (snapshot) (*snapshot)(trainer);
    progress.finish();
  });
  if (!options.resume.empty()) with_file(options.resume, [&] { trainer.resume(run); });

  Index parameters = 0;
  for (auto const& weight : solver.network().executable().weights()) parameters += weight.shape.size();
  std::printf("%s to learn from, %td held out, %s\n", counted(parts.training->size(), "segment").c_str(),
              parts.held_out->size(), counted(parameters, "parameter").c_str());
  std::uint64_t const before = trainer.iteration();
  trainer.run();
  Attempts attempt;
  attempt([&] {
    if (snapshot) (*snapshot)(trainer);
  });
  double const ratio = judge.ratio();
  attempt([&] { write(options.save, trainer.model()); });
  attempt.rethrow();
  progress.finish();
  if (trainer.iteration() == before && trainer.stopped().empty()) std::puts("All epochs were done before.");
  if (!trainer.stopped().empty()) std::printf("Stopped early: %s\n", trainer.stopped().c_str());
  std::printf("Error to signal ratio %s, after step %s: %s (below 0.01 great, 0.035 not bad, 0.1 might sound ok)\n",
              rounded(ratio, 4).c_str(), std::to_string(stop.best().iteration()).c_str(),
              train::judgement_of_ratio(ratio));
  std::printf("Saved the model to %s\n", options.save.c_str());
}

}  // namespace coldpress::command
