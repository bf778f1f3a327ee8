// The reader of training configs, as text and as messages; what was read is described, if it is a network at all.
#include <coldpress/dynamic/describe.hpp>
#include <coldpress/persist/training.hpp>

#include "fuzz.hpp"
#include "size.hpp"

void coldpress::fuzz::run(std::span<std::byte const> bytes) {
  MemoryFile const file{bytes};
  auto const training = [&] {
    try {
      return persist::read_training(file.path());
    } catch (Error const& error) {
      demand(error.file() == file.path(), "an error does not name its file");
      throw;
    }
  }();
  if (is_small(training.network)) dynamic::describe(training.network);
}
