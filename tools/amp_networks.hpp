// Models of amplifiers: what the command trains, and what it saves.
#pragma once

#include <coldpress/persist/model.hpp>

#include <optional>
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
  persist::Model model;            // as a stream
  Index sample_rate;               // steps per second
  double ratio;                    // the error to signal ratio of what was held out
  std::optional<double> loudness;  // of what the device made of the recording, in dB; nothing for silence
};
/// Whether write_amp writes a .nam file.
bool is_nam(std::string const& path);
/// Writes it atomically: as a .nam file with all that is known of it if the name ends so, otherwise as a .juice file.
/// Throws what convert::write_nam and persist::write_model throw.
void write_amp(std::string const& path, TrainedAmp const& amp);

}  // namespace coldpress::command
