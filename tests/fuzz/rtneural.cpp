// The reader of models of RTNeural, as a stream and as a sequence.
#include <coldpress/convert/rtneural.hpp>

#include "fuzz.hpp"

#include <algorithm>
#include <cmath>

void coldpress::fuzz::run(std::span<std::byte const> bytes) {
  MemoryFile const file{bytes};
  for (auto const& input : {std::optional<Shape>{}, std::optional{Shape{3, 1}}}) {
    try {
      auto const model = convert::read_rtneural(file.path(), {.input = input});
      for (auto const& tensor : model.weights) {
        demand_count(tensor.shape, tensor.values.size());
        demand(std::ranges::all_of(tensor.values, [](float value) { return std::isfinite(value); }),
               "a weight is not finite");
      }
    } catch (Error const& error) {
      demand(error.file() == file.path(), "an error does not name its file");
      demand(!error.sentence().empty(), "an error says nothing");
    }
  }
}
