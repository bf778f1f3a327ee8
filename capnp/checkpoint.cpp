// Writes a checkpoint with its weights and states into a file, and reads it back.
#include <coldpress/persist/checkpoint.hpp>

#include <coldpress/data/atomic_file.hpp>

#include "content.hpp"
#include "message.hpp"
#include "monitoring.hpp"

#include <algorithm>

namespace coldpress::persist {
namespace {

Checkpoint read(schema::Checkpoint::Reader file) {
  Checkpoint checkpoint{.model = read_model(file.getModel())};
  read_run(file, checkpoint);
  in_field("optimizer", [&] { check_text(checkpoint.optimizer = text_of(file.getOptimizer())); });
  checkpoint.optimizer_state = read_tensors(file.getOptimizerState(), "optimizerState");
  for (auto const word : file.getRandomState()) checkpoint.random_state.push_back(word);
  checkpoint.iteration = file.getIteration();
  checkpoint.epoch = file.getEpoch();
  checkpoint.position = file.getPosition();
  checkpoint.waiting = file.getWaiting();
  checkpoint.monitoring = read_monitoring(file);
  checkpoint.statistics = read_statistics(file.getStatistics());
  checkpoint.states = read_states(file.getStates());
  return checkpoint;
}

void write(schema::Checkpoint::Builder file, Checkpoint const& checkpoint) {
  write_model(file.initModel(), checkpoint.model);
  write_run(file, checkpoint);
  in_field("optimizer", [&] { check_text(checkpoint.optimizer); });
  if (!checkpoint.optimizer.empty()) file.setOptimizer(checkpoint.optimizer);
  auto const& state = checkpoint.optimizer_state;
  write_tensors(file.initOptimizerState(list_size(state.size())), state, "optimizerState");
  auto random_state = file.initRandomState(list_size(checkpoint.random_state.size()));
  for (unsigned i = 0; i < random_state.size(); ++i) random_state.set(i, checkpoint.random_state[i]);
  file.setIteration(checkpoint.iteration);
  file.setEpoch(checkpoint.epoch);
  file.setPosition(checkpoint.position);
  file.setWaiting(checkpoint.waiting);
  write_monitoring(file, checkpoint.monitoring);
  write_statistics(file.initStatistics(list_size(checkpoint.statistics.size())), checkpoint.statistics);
  write_states(file.initStates(list_size(checkpoint.states.size())), checkpoint.states);
  set_checksum<schema::Checkpoint>(file);
}

}  // namespace

Checkpoint read_checkpoint(std::string const& path) {
  return with_file(path, [&] {
    auto const bytes = read_file(path, max_file);
    return translated([&] {
      Message message{bytes};
      if (!message.starts_with_struct()) throw OtherKindError{"is a model, not a checkpoint"};
      auto const root = message.root<schema::Checkpoint>();
      if (!verify_checksum<schema::Checkpoint>(root))
        throw ChecksumError{"is not a checkpoint, or has lost its checksum"};
      return read(root);
    });
  });
}

std::vector<std::byte> serialize(Checkpoint const& checkpoint) {
  return translated([&] {
    unsigned const words = std::max(words_for(checkpoint.model.weights), words_for(checkpoint.optimizer_state));
    capnp::MallocMessageBuilder message{words};
    write(message.initRoot<schema::Checkpoint>(), checkpoint);
    return to_bytes(message);
  });
}

void write_checkpoint(std::string const& path, Checkpoint const& checkpoint) {
  with_file(path, [&] { write_atomically(path, serialize(checkpoint)); });
}

}  // namespace coldpress::persist
