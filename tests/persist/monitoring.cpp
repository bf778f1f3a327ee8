// How a training is watched, in trainings and checkpoints, and what a trainer remembers.
#include <coldpress/persist.hpp>

#include "persist/files.hpp"

namespace coldpress::persist {
namespace {

std::string const network = "network = (layerType = (linear = (outputSize = 3)))";

Training read(std::string const& text, std::vector<std::string> const& changes = {}) {
  TemporaryFolder const folder;
  return read_training(folder.put("train.txt", "(" + network + text + ")"), changes);
}
std::string refusal(std::string const& text, std::vector<std::string> const& changes = {}) {
  try {
    read(text, changes);
  } catch (Error const& error) {
    return (error.field().empty() ? "" : error.field() + ": ") + error.sentence();
  }
  return "none";
}

Monitoring all_of_it() {
  return {.validate = 0.125,
          .early_stopping = EarlyStopping{.metric = {"validation/accuracy", Better::higher},
                                          .patience = 3,
                                          .min_delta = 0.01,
                                          .restore_best = false},
          .reduce_on_plateau = ReduceOnPlateau{.metric = {"training/loss_epoch", Better::lower},
                                               .factor = 0.25f,
                                               .patience = 4,
                                               .min_delta = 0,
                                               .cooldown = 2,
                                               .min_rate = 1e-8f,
                                               .reload = true},
          .average = {.kind = WeightAverage::Kind::ema, .decay = 0.99f}};
}

TEST_CASE("monitoring is read as people write it") {
  CHECK(read("").monitoring == Monitoring{});
  Training const training = read(R"(, validate = 0.125,
      earlyStopping = (metric = "validation/accuracy", better = higher, patience = 3, minDelta = 0.01,
                       restoreBest = false),
      reduceOnPlateau = (metric = "training/loss_epoch", factor = 0.25, patience = 4, minDelta = 0, cooldown = 2,
                         minRate = 1e-8, reload = true),
      average = (ema = 0.99))");
  CHECK(training.monitoring == all_of_it());
  Monitoring const defaults = read(", earlyStopping = (), reduceOnPlateau = (), average = (swa = 4)").monitoring;
  CHECK(defaults.early_stopping == EarlyStopping{});
  CHECK(defaults.reduce_on_plateau == ReduceOnPlateau{});
  CHECK(defaults.average == WeightAverage{.kind = WeightAverage::Kind::swa, .from_epoch = 4});
}

TEST_CASE("monitoring comes back from trainings and checkpoints, and so does what a trainer remembers") {
  TemporaryFolder const folder;
  Training training = read("");
  training.monitoring = all_of_it();
  write_training(folder / "train.txt", training);
  CHECK(read_training(folder / "train.txt") == training);

  Checkpoint checkpoint;
  checkpoint.monitoring = all_of_it();
  checkpoint.monitoring.average = {.kind = WeightAverage::Kind::swa, .from_epoch = 7};
  checkpoint.statistics = {{"validation/loss", {1, 5, 900}, {0.5, -1, 1e300}}, {"learning_rate", {}, {}}};
  checkpoint.states = {{"early_stopping", {{1, 2.5, -3}, {{"fc-0", {2, 1}, {1, 2}}}}}, {"empty", {}}};
  write_checkpoint(folder / "run", checkpoint);
  CHECK(read_checkpoint(folder / "run") == checkpoint);
}

TEST_CASE("numbers of monitoring that make no sense are refused with their field") {
  for (auto const& [text, field] : std::vector<std::pair<std::string, std::string>>{
           {"validate = 1", "validate: must be at least 0 and below 1, got 1.0"},
           {"validate = nan", "validate: must be"},
           {"earlyStopping = (metric = \"validation/accuracy\")",
            "earlyStopping.better: is lower, but of 'validation/accuracy' high values are good: write better = higher"},
           {"reduceOnPlateau = (metric = \"training/accuracy\", better = lower)", "reduceOnPlateau.better: is lower"},
           {"earlyStopping = (patience = 0)", "earlyStopping.patience: must be from 1 to 2^40, is 0"},
           {"earlyStopping = (minDelta = -1)", "earlyStopping.minDelta: must be at least 0 and finite, got -1"},
           {"earlyStopping = (metric = \"\")", "earlyStopping.metric: must not be empty"},
           {"reduceOnPlateau = (factor = 1)", "reduceOnPlateau.factor: must be between 0 and 1, got 1.0"},
           {"reduceOnPlateau = (minRate = inf)", "reduceOnPlateau.minRate: must be at least 0 and finite"},
           {"reduceOnPlateau = (patience = 0)", "reduceOnPlateau.patience: must be"},
           {"average = (ema = 1)", "average.ema: must be between 0 and 1, got 1.0"}}) {
    INFO(text);
    CHECK(contains(refusal(", " + text), field));
  }
}

TEST_CASE("a checkpoint with statistics or states that do not fit is refused or not written") {
  TemporaryFolder const folder;
  auto const refused = [&](auto change, std::string const& sentence) {
    Checkpoint checkpoint;
    change(checkpoint);
    write_checkpoint(folder / "run", checkpoint);
    try {
      read_checkpoint(folder / "run");
      FAIL("was read");
    } catch (FormatError const& error) {
      CHECK(contains(error.what(), sentence));
    }
  };
  refused(
      [](Checkpoint& of) {
        of.statistics = {{"a", {2, 2}, {1, 1}}};
      },
      "statistics[0]: has iterations that do not ascend");
  refused([](Checkpoint& of) { of.statistics = {{"a", {}, {}}, {"a", {}, {}}}; }, "statistics[1]: contains 'a' twice");
  refused([](Checkpoint& of) { of.states = {{"a", {}}, {"a", {}}}; }, "states[1]: contains 'a' twice");
}

TEST_CASE("changes set fields of a training, checked like a text") {
  Training const changed =
      read(", solver = (baseLr = 0.1, weightDecay = 0.5)",
           {"solver.baseLr=0.25", "seed=7", "network.layerType.linear.outputSize = 4", "network.name=\"other\"",
            "earlyStopping.patience=2", "solver.solver.adam=(beta1 = 0.5)", "data=\"csv:points\"",
            "loss=(name = \"loss\", layerType = (meanSquaredError = void))"});
  CHECK(changed.solver.base_lr == 0.25f);
  CHECK(changed.solver.weight_decay == 0.5f);
  CHECK(changed.seed == 7);
  CHECK(changed.network.name == "other");
  CHECK(std::get<Linear>(changed.network.layer_type).output_size == 4);
  CHECK(changed.monitoring.early_stopping == EarlyStopping{.patience = 2});
  CHECK(std::get<Adam>(changed.solver.solver).beta1 == 0.5f);
  CHECK(changed.data == "csv:points");
  CHECK(std::holds_alternative<Nesterov>(read("", {"solver.solver=(nesterov = void)"}).solver.solver));
  CHECK(std::holds_alternative<MeanSquaredError>(changed.loss->layer_type));

  std::string const layers = R"((network = (layerType = (sequential = (layers = [
    (name = "a", layerType = (linear = (outputSize = 3))), (name = "b", layerType = (relu = void))])))))";
  TemporaryFolder const folder;
  Training const entry =
      read_training(folder.put("net", layers), {"network.layerType.sequential.layers[1].layerType=(tanh = void)",
                                                "network.layerType.sequential.layers[0].name=\"first\""});
  auto const& net = std::get<dynamic::SequentialConfig>(entry.network.layer_type);
  CHECK(net.layers[0].name == "first");
  CHECK(std::holds_alternative<TanH>(net.layers[1].layer_type));

  for (auto const& [change, sentence] : std::vector<std::pair<std::string, std::string>>{
           {"solver.baseLR=1", "change 'solver.baseLR=1': SolverConfig has no field 'baseLR'; did you mean 'baseLr'?"},
           {"seed", "is not of the form FIELD=VALUE"},
           {"seed=", "change 'seed='"},
           {"seed=x", "'x' is not a value"},
           {"..seed=1", "a name in the path is empty"},
           {"loss=(name = \"l\")", "this layer has no layerType, which must be given"},
           {"network.inputs[0]=1", "'inputs' is not a list with entries"},
           {"epochs[0].x=1", "'epochs' is not a list"},
           {"network.layerType.sequential.layers[0].name=\"x\"", "the config has no 'sequential'"},
           {"network.inputs[x].name=1", "is not NAME[NUMBER]"},
           {"seed=1, epochs=2", "has more than one value"},
           {"seed=1)", "has more than one value"},
           {"data=csv:a.csv", "is a text, which needs double quotes: \"csv:a.csv\""}}) {
    INFO(change);
    CHECK(contains(refusal("", {change}), sentence));
  }
}

}  // namespace
}  // namespace coldpress::persist
