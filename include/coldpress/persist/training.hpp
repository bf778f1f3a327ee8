// What to train, on what and how: a file that people write, as Cap'n Proto's text, or that programs write, as a
// message.
#pragma once

#include <coldpress/dynamic/layer_config.hpp>

#include <cstdint>
#include <string>

namespace coldpress::persist {

struct Training {
  dynamic::LayerConfig network = {"", dynamic::SequentialConfig{}};
  std::optional<dynamic::LayerConfig> loss = {};
  dynamic::SolverConfig solver = {};  // its network and objective are not part of the file
  std::string data = {};
  Index epochs = 1;
  Index batch = 64;
  std::uint64_t seed = 0;
  bool operator==(Training const&) const = default;
};

/// Reads text or a message, packed or plain: the content tells. A `sampleShape` is the shape of one sample; a `shape`
/// carries a batch, any number, before the sample. Throws FileError; FormatError, for text with line and column, where
/// a field is unknown, given twice or of the wrong type, and where a text holds control characters or those that change
/// the direction of the writing; ConfigError where a value means nothing, or a `shape` could be a whole sample, too,
/// and that would be another network.
Training read_training(std::string const& path);

/// Writes text, atomically. Throws ConfigError for what read_training would refuse, and FileError.
void write_training(std::string const& path, Training const& training);

}  // namespace coldpress::persist
