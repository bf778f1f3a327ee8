// A training run, saved so that it goes on as if it had never stopped.
#pragma once

#include <coldpress/persist/model.hpp>

#include <cstdint>

namespace coldpress::persist {

struct Checkpoint {
  Model model = {};
  std::optional<dynamic::LayerConfig> loss = {};
  dynamic::SolverConfig solver = {};  // its network and objective are not part of the file: see model and loss
  std::string data = {};
  Index epochs = 1;
  Index batch = 64;
  std::uint64_t seed = 0;

  std::vector<NamedTensor> optimizer_state = {};
  std::vector<std::uint64_t> random_state = {};
  std::uint64_t iteration = 0;  // minibatches done
  std::uint64_t waiting = 0;    // samples whose gradients wait for their update
  std::uint64_t epoch = 0;      // whole epochs done
  std::uint64_t position = 0;   // samples done of the epoch under way
  bool operator==(Checkpoint const&) const = default;
};

/// Reads all of a checkpoint or throws, as read_model does; one without a checksum is damaged.
Checkpoint read_checkpoint(std::string const& path);

/// Writes atomically: afterwards `path` holds all of the checkpoint or is as it was. Throws as write_model does.
void write_checkpoint(std::string const& path, Checkpoint const& checkpoint);

/// The bytes that write_checkpoint writes: made of a run that has not begun, they tell whether it can be saved.
std::vector<std::byte> serialize(Checkpoint const& checkpoint);

}  // namespace coldpress::persist
