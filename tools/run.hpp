// Which training a command is about: a config's, or a checkpoint's that goes on.
#pragma once

#include "options.hpp"
#include "writable.hpp"

#include <coldpress/persist.hpp>

#include <optional>

namespace coldpress::command {

/// What the user says about the run, over what config and checkpoint say.
struct RunOptions {
  std::string config, resume, data;
  std::string weights;               // the file of a network whose weights the run begins with
  std::vector<std::string> changes;  // of fields of the config
  bool trust_paths = false;
  std::optional<Index> epochs, batch;
  std::optional<std::uint64_t> seed;
  // Monitoring.
  std::optional<double> validate, min_delta, ema;
  std::optional<Index> patience, swa;
  std::optional<std::string> metric;
};

/// Adds the options that say which run it is.
void add_run(CLI::App& command, RunOptions& options);

/// The file that describes the run: the checkpoint or, without one, the config.
std::string const& file_of(RunOptions const& options);

/// The run to continue, or the run to begin, which has no weights yet. Throws CLI::RequiredError without --config and
/// --resume, MismatchError if config or options describe another run than the checkpoint, and what the readers throw.
persist::Checkpoint read_run(RunOptions const& options, Files& files);

/// The solver of the run, for samples of this data. Throws what persist::solver_of throws.
dynamic::Solver make_solver(RunOptions const& options, Computing const& computing, persist::Checkpoint const& run,
                            data::Source const& samples);

/// The data of a run: all, what is left of it to learn from, and what is held out, and all as the network sees it.
struct RunData {
  std::unique_ptr<data::Source> all = {};
  data::SourceSplit parts = {};  // of `all`, if a part is held out
  std::unique_ptr<data::Source> prepared = {};
  data::Source const& training() const { return parts.training ? *parts.training : *all; }
};
/// Labels are held out in proportion. The transforms of the run are completed by what is left to learn from.
RunData open_data(persist::Checkpoint& run, data::ReadOptions const& reading);

/// The metric of this name; for accuracies, higher is better.
Metric metric_called(std::string const& statistic, dynamic::LayerConfig const& network);

}  // namespace coldpress::command
