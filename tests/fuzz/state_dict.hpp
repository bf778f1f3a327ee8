// A network for harnesses of files with PyTorch's names.
#pragma once

#include "fuzz.hpp"

#include <coldpress/convert/weights.hpp>

#include <algorithm>
#include <cmath>

namespace coldpress::fuzz {

/// A convolution, a normalisation, a recurrent layer and a dense one.
inline dynamic::LayerConfig network() {
  dynamic::SequentialConfig layers;
  layers.add_input("x", Shape{2, 2})
      .add_layer({"c", Convolution{.num_output = 2, .filter_shape = 2}})
      .add_layer({"n", BatchNormalization{.axis = -1}})
      .add_layer({"r", Rnn{.hidden_size = 1, .rnn_type = RnnType::gru}})
      .add_layer({"l", Linear{.output_size = 1}});
  return {"net", layers};
}

/// Reads weights strictly, and with what is missing made up; writes what was read.
void run_state_dict(std::span<std::byte const> bytes, auto const& read, auto const& write) {
  MemoryFile const file{bytes};
  for (bool const lenient : {false, true}) {
    try {
      convert::Options options{.allow_missing = lenient};
      if (lenient) options.names.lines = {{"*", "*"}};
      auto const conversion = read(file.path(), network(), options);
      for (auto const& tensor : conversion.model.weights) {
        demand_count(tensor.shape, tensor.values.size());
        demand(std::ranges::all_of(tensor.values, [](float value) { return std::isfinite(value); }),
               "a weight is not finite");
      }
      try {
        write("/proc/self/no such folder/a", conversion.model, options.names);
        demand(false, "a file was written where none can be");
      } catch (FileError const&) {  // so that it would have been written
      }
    } catch (Error const& error) {
      demand(error.file() == file.path(), "an error does not name its file");
      demand(!error.sentence().empty(), "an error says nothing");
    }
  }
}

}  // namespace coldpress::fuzz
