// Training files: which network to train, on which data and how.
#pragma once

// People write such a file as Cap'n Proto's text, programs as a message.

#include <coldpress/data/transform.hpp>
#include <coldpress/dynamic/layer_config.hpp>
#include <coldpress/optim/monitoring.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace coldpress::persist {

/// What a file describes; solver_of (persist/network.hpp) makes a solver of it.
struct Training {
  dynamic::LayerConfig network = {"", dynamic::SequentialConfig{}};
  std::optional<dynamic::LayerConfig> loss = {};
  dynamic::SolverConfig solver = {};  // without network and objective, which are network and loss
  std::string data = {};
  Index epochs = 1;
  Index batch = 64;
  std::uint64_t seed = 0;
  Monitoring monitoring = {};
  data::Transforms transforms = {};  // of samples before the network; data::fit completes them
  bool operator==(Training const&) const = default;
};

/// Reads text or a message, packed or plain, which is recognised by the content. A `sampleShape` is the shape of one
/// sample; a `shape` has a batch of any size before the sample's extents.
///
/// Throws FileError; FormatError, for text with line and column, if a field is unknown, given twice or of the wrong
/// type, or if a text contains control characters or characters that change the writing direction, and of these
/// OtherKindError (persist/model.hpp) for a model; ConfigError if a value makes no sense, or if a `shape` could also be
/// read as a whole sample and that would be a different network.
///
/// Before it is read, each of `changes` sets a field, as if it were written so: "solver.baseLr=0.01",
/// "network.sequential.layers[2].linear.outputSize=20". Throws FormatError for a field that does not exist.
Training read_training(std::string const& path, std::vector<std::string> const& changes = {});
/// Like read_training, for bytes in memory; `file` is the name in errors.
[[nodiscard]] Training parse_training(std::span<std::byte const> bytes, std::string const& file,
                                      std::vector<std::string> const& changes = {});

/// Writes text, atomically. Throws ConfigError for what read_training would refuse, and FileError.
void write_training(std::string const& path, Training const& training);

}  // namespace coldpress::persist
