// Models of amplifiers: what the command trains, and what it saves.
#pragma once

#include <coldpress/persist/model.hpp>

#include <string>
#include <vector>

namespace coldpress::command {

/// The architectures by name, such as a1-standard.
std::vector<std::string> amp_architectures();
/// How many steps before its own an output of an architecture depends on.
Index amp_run_in(std::string const& architecture);
/// The network of an architecture for a stream of single steps.
dynamic::LayerConfig amp_stream(std::string const& architecture);

/// The losses, with the factor of each; those of 0 are left out.
struct AmpLosses {
  float squares = 1;       // the mean squared error
  float ratio = 0;         // the error to signal ratio
  float spectra = 0;       // StftLoss
  float pre_emphasis = 0;  // of the ratio's filter
};
/// The network that is trained: segments of {run-in + length, 1} and targets {length, 1} as inputs, and the losses of
/// what comes after the run-in.
dynamic::LayerConfig amp_training(std::string const& architecture, Index length, AmpLosses const& losses);

/// A trained model of a device, and what is known of it.
struct TrainedAmp {
  persist::Model model;  // as a stream
  std::string architecture;
  Index sample_rate;  // steps per second
  double ratio;       // the error to signal ratio of what was held out
};
/// Writes it atomically, in the format that the ending of the name says. Throws what persist::write_model throws.
void write_amp(std::string const& path, TrainedAmp const& amp);

}  // namespace coldpress::command
