// The state of a training run, from which it continues as if it had never stopped.
#pragma once

#include <coldpress/optim/monitoring.hpp>
#include <coldpress/persist/model.hpp>

#include <cstdint>

namespace coldpress::persist {

/// The values of a statistic of a training and the iterations at which they were taken, in ascending order.
struct Series {
  std::string name = {};
  std::vector<std::uint64_t> iterations = {};
  std::vector<double> values = {};  // as many
  bool operator==(Series const&) const = default;
};

/// What a part of a training, such as a callback, has to remember.
struct State {
  std::vector<double> numbers = {};
  std::vector<NamedTensor> tensors = {};
  bool operator==(State const&) const = default;
};
struct NamedState {
  std::string name = {};
  State state = {};
  bool operator==(NamedState const&) const = default;
};

struct Checkpoint {
  Model model = {};
  std::optional<dynamic::LayerConfig> loss = {};
  dynamic::SolverConfig solver = {};  // without network and objective, which are model and loss
  std::string data = {};
  Index epochs = 1;
  Index batch = 64;
  std::uint64_t seed = 0;
  Monitoring monitoring = {};

  std::string optimizer = {};  // the name of the optimizer that has these states; older versions did not write it
  std::vector<NamedTensor> optimizer_state = {};
  std::vector<std::uint64_t> random_state = {};
  std::uint64_t iteration = 0;  // number of minibatches done
  std::uint64_t waiting = 0;    // number of samples whose gradients wait for their update
  std::uint64_t epoch = 0;      // number of whole epochs done
  std::uint64_t position = 0;   // number of samples done in the current epoch
  std::vector<Series> statistics = {};
  std::vector<NamedState> states = {};
  bool operator==(Checkpoint const&) const = default;
};

/// Reads a whole checkpoint or throws, as read_model does. A checkpoint without a checksum counts as damaged.
Checkpoint read_checkpoint(std::string const& path);

/// Writes atomically: afterwards `path` holds the whole checkpoint or is unchanged. Throws as write_model does.
void write_checkpoint(std::string const& path, Checkpoint const& checkpoint);

/// The bytes that write_checkpoint writes. Called for a run that has not begun, it shows whether the run can be saved.
std::vector<std::byte> serialize(Checkpoint const& checkpoint);

}  // namespace coldpress::persist
