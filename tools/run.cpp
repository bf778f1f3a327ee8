// Combines a training config, a checkpoint and options into one run, which may not contradict each other.
#include "run.hpp"

#include "input_arrays.hpp"
#include "print.hpp"
#include "solver_text.hpp"

#include <coldpress/core/counted.hpp>
#include <coldpress/data/network_transforms.hpp>
#include <coldpress/dynamic/copy_weights.hpp>
#include <coldpress/train/score.hpp>

#include <filesystem>

namespace coldpress::command {
namespace {

using persist::Checkpoint;

/// The folder from which paths in the config are relative. A config from a pipe has none, so its paths are relative to
/// the working directory.
std::string folder_of(RunOptions const& options) {
  bool const piped = options.config == "/dev/stdin";
  return piped ? "" : std::filesystem::path{options.config}.parent_path().string();
}

/// A run that has not begun, as the config describes it and the options override it. It has no weights yet.
Checkpoint begin(persist::Training const& training, RunOptions const& options) {
  // Assigned one by one: if an allocation fails inside nested braces, g++ 12 destroys members that do not exist yet.
  Checkpoint run;
  run.model.config = training.network;
  run.loss = training.loss;
  run.solver = training.solver;
  run.epochs = training.epochs;
  run.batch = options.batch.value_or(training.batch);
  run.seed = options.seed.value_or(training.seed);
  run.monitoring = training.monitoring;
  return run;
}

/// Throws MismatchError if config or options describe another run than the checkpoint.
void check_same_run(Checkpoint const& run, std::optional<persist::Training> const& training,
                    RunOptions const& options) {
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
  if (run.solver != training->solver) throw MismatchError{difference(run.solver, training->solver)};
}

/// The names of the files without their folders, which may differ when a run continues on another machine.
std::vector<std::string> file_names(std::string const& spec) {
  auto files = data::files_of(spec);
  for (std::string& file : files) file = std::filesystem::path{file}.filename().string();
  return files;
}

/// The data of a run without --data. Paths in the config are used, because the user named that file, and are relative
/// to its folder; paths in the checkpoint are used only if the user trusts them.
std::string data_of(RunOptions const& options, std::string const& configured, std::string const& kept, Files& files) {
  bool const of_config = !configured.empty();
  auto const find = [&] {
    if (of_config && !kept.empty() && file_names(configured) != file_names(kept)) {
      throw MismatchError{"the checkpoint's data is '" + kept + "', the config's is '" + configured +
                          "'; choose with --data"};
    }
    std::string const spec = of_config ? data::from_folder(folder_of(options), configured) : kept;
    if (spec.empty()) throw ConfigError{"is missing"};
    if (!of_config && !options.trust_paths) {
      throw ConfigError{"is '" + kept + "', and paths in a checkpoint are followed only with --trust-paths; " +
                        "name the data with --data, or add --trust-paths"};
    }
    files.reads_data(of_config ? "the data of --config" : "the data of --resume", spec);
    return spec;
  };
  return with_context(find, [&](Error& error) {
    error.in_file(of_config || options.resume.empty() ? options.config : options.resume);
    error.in_field("data");
  });
}

bool is_labelled(Checkpoint const& run) {
  bool const one_hot = std::ranges::any_of(
      run.model.transforms, [](auto const& transform) { return std::holds_alternative<data::OneHot>(transform); });
  return one_hot || (run.loss && train::takes_labels(*run.loss));
}

/// Throws MismatchError unless a config says of a run that continues what the run began with.
void check_continues(Checkpoint const& run, persist::Training const& training, Monitoring const& monitoring,
                     data::Transforms const& transforms) {
  auto const refuse = [](std::string const& what) {
    throw MismatchError{"was made with other " + what +
                        " than the config's; repeat the options of the first run, or "
                        "leave out --config and give --data"};
  };
  if (training.monitoring != Monitoring{} && monitoring != run.monitoring) refuse("monitoring");
  if (!transforms.empty() && !data::are_fitted_of(run.model.transforms, transforms)) refuse("transforms");
}

void monitor(Monitoring& monitoring, RunOptions const& options, dynamic::LayerConfig const& network) {
  if (options.validate) monitoring.validate = *options.validate;
  if (options.patience || (monitoring.early_stopping && (options.metric || options.min_delta))) {
    if (!monitoring.early_stopping) monitoring.early_stopping.emplace();
    EarlyStopping& stop = *monitoring.early_stopping;
    if (options.patience) stop.patience = *options.patience;
    if (options.min_delta) stop.min_delta = *options.min_delta;
    if (options.metric) stop.metric = metric_called(*options.metric, network);
  }
  if (options.ema) monitoring.average = {.kind = WeightAverage::Kind::ema, .decay = static_cast<float>(*options.ema)};
  if (options.swa) monitoring.average = {.kind = WeightAverage::Kind::swa, .from_epoch = *options.swa};
  if (options.min_delta && !monitoring.early_stopping) throw CLI::ValidationError("--min-delta", "is for --patience");
  check_numbers(monitoring);
}

}  // namespace

Metric metric_called(std::string const& statistic, dynamic::LayerConfig const& network) {
  std::size_t const slash = statistic.find('/');
  bool const own = slash < statistic.size() && train::has_statistic(network, statistic.substr(slash + 1));
  return {statistic, own || statistic.ends_with("accuracy") ? Better::higher : Better::lower};
}

std::string const& file_of(RunOptions const& options) {
  return options.resume.empty() ? options.config : options.resume;
}

Checkpoint read_run(RunOptions const& options, Files& files) {
  if (options.config.empty() && options.resume.empty()) throw CLI::RequiredError("--config or --resume");
  std::optional<persist::Training> training;
  if (!options.config.empty()) training = persist::read_training(options.config, options.changes);
  Checkpoint run = options.resume.empty() ? begin(*training, options) : persist::read_checkpoint(options.resume);
  if (options.epochs) run.epochs = *options.epochs;
  Monitoring const kept = run.monitoring;
  auto const transforms = training ? data::from_folder(folder_of(options), training->transforms) : data::Transforms{};
  if (options.resume.empty()) run.model.transforms = transforms;
  for (std::string const& path : data::files_of(run.model.transforms)) files.reads("transforms", path);
  monitor(run.monitoring, options, run.model.config);
  if (run.monitoring.average.kind == WeightAverage::Kind::swa && run.monitoring.average.from_epoch >= run.epochs) {
    throw ConfigError{"average.swa: after " + std::to_string(run.monitoring.average.from_epoch) +
                      " epochs nothing is " + "left to average, since the run has " + std::to_string(run.epochs)};
  }
  run.data = options.data.empty()
                 ? data_of(options, training ? training->data : "", options.resume.empty() ? "" : run.data, files)
                 : options.data;
  run.data = data_for(run.data, run.model.config, train::inputs_for(run.loss.has_value()), file_of(options));
  if (!options.resume.empty()) {
    if (training) run.solver.shard_optimizer = training->solver.shard_optimizer;  // not part of what is resumed
    auto const check = [&] {
      check_same_run(run, training, options);
      if (run.monitoring.validate != kept.validate) {
        throw MismatchError{"was made with validate " + std::to_string(kept.validate) + ", not " +
                            std::to_string(run.monitoring.validate)};
      }
      if (run.monitoring.average != kept.average) throw MismatchError{"was made with another average of the weights"};
      if (!training) return;
      Monitoring configured = training->monitoring;
      monitor(configured, options, run.model.config);
      check_continues(run, *training, configured, transforms);
    };
    with_context(check, [&](Error& error) { error.in_file(options.resume); });
  }
  return run;
}

RunData open_data(Checkpoint& run, data::ReadOptions const& reading) {
  RunData data;
  data.all = data::open_source(run.data, reading);
  show_skipped(*data.all);
  auto const prepare = [&] {
    if (run.monitoring.validate > 0) {
      bool const labels = data.all->target_shape().size() == 1 && is_labelled(run);
      with_context([&] { data.parts = data::split(*data.all, run.monitoring.validate, run.seed, labels); },
                   [](Error& error) { error.in_field("validate"); });
    }
    run.model.transforms = data::fit(std::move(run.model.transforms), data.training());
    data.prepared = data::transformed(*data.all, run.model.transforms);
  };
  with_context(prepare, [&](Error& error) { error.in_file(run.data); });
  return data;
}

namespace {
/// Gives the network the weights that the file has under the same names, and says which these are not.
void begin_with(std::string const& file, dynamic::Layer& network, data::Source const& samples,
                train::InputsFor purpose) {
  auto const done = with_file(file, [&] {
    persist::Model const model = persist::read_model(file);
    auto const input = input_for(model.config, samples, purpose);
    return dynamic::copy_weights(persist::layer_of(dynamic::Backend{}, model, input), network);
  });
  for (std::string const& name : done.missing)
    show("note: " + name + " is not in " + file + " and has its initial value");
  for (std::string const& name : done.unused) show("note: " + name + " of " + file + " is not used");
  show("Begins with " + counted(done.copied.size(), "weight") + " of " + file);
}
}  // namespace

dynamic::Solver make_solver(RunOptions const& options, Computing const& computing, Checkpoint const& run,
                            data::Source const& samples) {
  dynamic::Backend const backend = computing.open();
  dynamic::Solver solver = with_context(
      [&] {
        if (!options.resume.empty()) return persist::solver_of(backend, run);
        persist::Training const fresh{
            .network = run.model.config, .loss = run.loss, .solver = run.solver, .seed = run.seed};
        return persist::solver_of(backend, fresh,
                                  input_for(run.model.config, samples, train::inputs_for(run.loss.has_value())));
      },
      [&](Error& error) { error.in_file(file_of(options)); });
  if (!options.weights.empty())
    begin_with(options.weights, solver.mut_network(), samples, train::inputs_for(run.loss.has_value()));
  return solver;
}

void add_run(CLI::App& command, RunOptions& options) {
  auto* const config =
      command.add_option("--config", options.config, "Network, loss and solver, as Cap'n Proto text or message")
          ->type_name(file)
          ->group(of_run);
  auto* const resume =
      command.add_option("--resume", options.resume, "Checkpoint to continue from, as if nothing had happened")
          ->type_name(file)
          ->group(of_run);
  command
      .add_option("--weights", options.weights,
                  "Network whose weights the run begins with, as far as names are the same, to learn on from it")
      ->type_name(file)
      ->needs(config)
      ->excludes(resume)
      ->group(of_run);
  command
      .add_option("--set", options.changes,
                  "Set a field of the config for this run, such as solver.baseLr=0.01; may be repeated")
      ->type_name("FIELD=VALUE")
      ->allow_extra_args(false)
      ->needs(config)
      ->excludes(resume)
      ->group(of_run);
  command.add_option("--data", options.data, data_help() + "; default: the config's, relative to its folder")
      ->type_name(spec)
      ->group(of_data);
  command
      .add_flag("--trust-paths", options.trust_paths,
                "Without --data and --config: read the data that the checkpoint names")
      ->needs(resume)
      ->group(of_data);
  command
      .add_option("--epochs", options.epochs,
                  "Passes over the data, including those before a checkpoint; default: the config's")
      ->type_name(number)
      ->check(at_least_1())
      ->group(of_run);
  command.add_option("--batch", options.batch, "Samples in a step; default: the config's, or 64")
      ->type_name(number)
      ->check(at_least_1())
      ->group(of_run);
  command
      .add_option("--seed", options.seed,
                  "Decides initial weights, Dropout and the order of the data; default: the config's, or 0")
      ->type_name(number)
      ->check(any_seed())
      ->group(of_run);
}

}  // namespace coldpress::command
