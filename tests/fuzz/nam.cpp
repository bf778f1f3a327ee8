// The reader of models of amplifiers, and the writer of what it has read.
#include <coldpress/convert/nam.hpp>

#include "fuzz.hpp"

#include <algorithm>
#include <cmath>

void coldpress::fuzz::run(std::span<std::byte const> bytes) {
  MemoryFile const file{bytes};
  for (double const size : {0.0, 1.0}) {
    try {
      auto const read = convert::read_nam(file.path(), {.size = size});
      demand(!read.model.weights.empty(), "a network has no weights");
      for (auto const& tensor : read.model.weights) {
        demand_count(tensor.shape, tensor.values.size());
        demand(std::ranges::all_of(tensor.values, [](float value) { return std::isfinite(value); }),
               "a weight is not finite");
      }
      demand(std::ranges::is_sorted(read.sizes) && read.sizes.front() == 0, "the sizes do not ascend from 0");
      auto const entries = convert::nam_metadata_of({.metadata = convert::entries_of(read.metadata)});
      demand(entries.sample_rate == read.metadata.sample_rate && entries.loudness == read.metadata.loudness &&
                 entries.initial_states == read.metadata.initial_states,
             "metadata are others as entries");
      try {
        convert::write_nam("/proc/self/no such folder/a.nam", read.model, read.metadata);
        demand(false, "a file was written where none can be");
      } catch (FileError const&) {  // so that it would have been written
      }
    } catch (Error const& error) {
      demand(error.file() == file.path(), "an error does not name its file");
      demand(!error.sentence().empty(), "an error says nothing");
    }
  }
}
