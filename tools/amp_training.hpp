// The training of a model of a device from two sound files.
#pragma once

#include "amp_networks.hpp"
#include "options.hpp"

#include <optional>
#include <string>

namespace coldpress::command {

struct AmpOptions {
  std::string input, output, architecture = "a1-standard", save, checkpoint, resume, best, html, log;
  std::optional<Index> delay, patience;
  Index epochs = 100, batch = 16, segment = 8192, prefetch = 4;
  std::uint64_t seed = 0;
  double validate = 0.1;
  float rate = 0.004f, decay = 0.993f;
  AmpLosses losses;
  Computing computing{.options = {.threads = 0}};
};

/// Trains, saves what was best, and says how good it is. Throws what reading, training and writing throw.
void train_amp(AmpOptions const& options);

}  // namespace coldpress::command
