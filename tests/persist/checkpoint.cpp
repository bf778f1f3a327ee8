#include <coldpress/persist/checkpoint.hpp>
#include <coldpress/persist/training.hpp>

#include "persist/files.hpp"

namespace coldpress::persist {
namespace {

Checkpoint sample() {
  Checkpoint checkpoint{.model = small_model()};
  checkpoint.loss = dynamic::LayerConfig{"loss", NegativeLogLikelihood{10}};
  checkpoint.solver = {.name = "sgd", .minibatch_size = 32, .base_lr = 0.1f, .momentum = 0.9f, .clip_gradients = 1.5f};
  checkpoint.data = "mnist:digits";
  checkpoint.epochs = 7;
  checkpoint.batch = 32;
  checkpoint.seed = 5;
  checkpoint.optimizer_state = {tensor("fc1-0", {20, 24}), {"zero", {4096}, std::vector<float>(4096)}};
  checkpoint.random_state = {~std::uint64_t{0}, 0, 3};
  checkpoint.iteration = std::uint64_t{1} << 60;
  checkpoint.epoch = 3;
  checkpoint.position = 96;
  checkpoint.waiting = 17;
  return checkpoint;
}

TEST_CASE("a checkpoint comes back from its file") {
  TemporaryFolder folder;
  for (Checkpoint const& checkpoint : {sample(), Checkpoint{}}) {
    write_checkpoint(folder / "run.checkpoint", checkpoint);
    CHECK(read_checkpoint(folder / "run.checkpoint") == checkpoint);
  }
}

TEST_CASE("models, checkpoints and trainings are not taken for each other") {
  TemporaryFolder folder;
  write_checkpoint(folder / "run.checkpoint", sample());
  write_model(folder / "net.juice", small_model());
  CHECK(contains(message<OtherKindError>([&] { read_model(folder / "run.checkpoint"); }),
                 "run.checkpoint: is a checkpoint or a training, not a model"));
  CHECK(contains(message<OtherKindError>([&] { read_checkpoint(folder / "net.juice"); }),
                 "net.juice: is a model, not a checkpoint"));
  for (std::vector<std::string> const& changes : {std::vector<std::string>{}, {"epochs=2"}})
    CHECK(contains(message<OtherKindError>([&] { read_training(folder / "net.juice", changes); }),
                   "net.juice: is a model, not a training"));
  // A message without a network is no model either.
  folder.put("bare", capnp("encode --packed", "capnp/coldpress.capnp", "(data = \"mnist:digits\")", "Training"));
  CHECK(contains(message<ConfigError>([&] { read_training(folder / "bare"); }), "bare: network: is missing"));
}

TEST_CASE("a checkpoint without its checksum is damaged") {
  TemporaryFolder folder;
  std::string const text = "(model = (config = (layerType = (relu = void))), epochs = 1, batch = 1)";
  folder.put("run.checkpoint", capnp("encode --packed", "capnp/coldpress.capnp", text, "Checkpoint"));
  CHECK(contains(message<ChecksumError>([&] { read_checkpoint(folder / "run.checkpoint"); }),
                 "is not a checkpoint, or has lost its checksum"));
}

TEST_CASE("a checkpoint that could not be read again is not written") {
  TemporaryFolder folder;
  write_checkpoint(folder / "run", sample());
  auto const refused = [&](auto change) {
    Checkpoint checkpoint = sample();
    change(checkpoint);
    std::string const text = message<ConfigError>([&] { write_checkpoint(folder / "run", checkpoint); });
    CHECK(read_checkpoint(folder / "run") == sample());
    return text;
  };
  CHECK(contains(refused([](auto& c) { c.optimizer_state[1].name = "fc1-0"; }),
                 "optimizerState[1] fc1-0: the name 'fc1-0' is given twice"));
  CHECK(contains(refused([](auto& c) { c.solver.momentum = 2; }), "solver.momentum"));
  CHECK(contains(refused([](auto& c) { c.solver.clip_gradients = 0.0f; }), "solver.clipGradients"));
  CHECK(contains(refused([](auto& c) { c.solver.clip_values = -1.0f; }), "solver.clipValues"));
  CHECK(contains(refused([](auto& c) { c.solver.momentum_policy = policy::Linear{}; }), "solver.momentumPolicy"));
  CHECK(contains(refused([](auto& c) { c.epochs = 0; }), "epochs"));
  CHECK(contains(refused([](auto& c) { c.loss->layer_type = NegativeLogLikelihood{0}; }), "layer 'loss': numClasses"));
}

}  // namespace
}  // namespace coldpress::persist
