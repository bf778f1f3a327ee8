// The reader of checkpoints.
#include <coldpress/persist/checkpoint.hpp>

#include "fuzz.hpp"

void coldpress::fuzz::run(std::span<std::byte const> bytes) {
  MemoryFile const file{bytes};
  try {
    auto const checkpoint = persist::read_checkpoint(file.path());
    for (auto const& tensor : checkpoint.optimizer_state) demand_count(tensor.shape, tensor.values.size());
  } catch (Error const& error) {
    demand(error.file() == file.path(), "an error does not name its file");
  }
}
