// The reader of ONNX models.
#include <coldpress/convert/onnx.hpp>

#include "fuzz.hpp"

#include <algorithm>
#include <cmath>

void coldpress::fuzz::run(std::span<std::byte const> bytes) {
  MemoryFile const file{bytes};
  static_cast<void>(convert::is_onnx(file.path()));
  for (bool const batched : {true, false}) {
    try {
      auto const read = convert::read_onnx(file.path(), {.batched = batched});
      for (auto const& tensor : read.model.weights) {
        demand_count(tensor.shape, tensor.values.size());
        demand(std::ranges::all_of(tensor.values, [](float value) { return std::isfinite(value); }),
               "a weight is not finite");
      }
      demand(read.initialised.empty() && read.unused.empty(),
             "a weight has no value of the file, or a value no weight");
      demand(read.filled.size() >= read.model.weights.size(), "the origin of a weight is not said");
    } catch (Error const& error) {
      demand(error.file() == file.path(), "an error does not name its file");
      demand(!error.sentence().empty(), "an error says nothing");
    }
  }
}
