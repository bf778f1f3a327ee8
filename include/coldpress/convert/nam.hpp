// Models of amplifiers in the .nam files of Neural Amp Modeler. Link coldpress::convert.
#pragma once

#include <coldpress/persist/model.hpp>

#include <optional>
#include <string>
#include <vector>

namespace coldpress::convert {

/// What a .nam file says besides its network. What it does not say is not set.
struct NamMetadata {
  static constexpr double most_sample_rate = 1e9;

  std::string version = {};                     // of the format, as the file has it; write_nam chooses its own
  std::optional<double> sample_rate = {};       // in Hz, above 0
  std::optional<double> loudness = {};          // of the output, in dB
  std::optional<double> gain = {};              // how far it distorts, from 0 to 1
  std::optional<double> input_level_dbu = {};   // of a sine with a peak of 1 at the input
  std::optional<double> output_level_dbu = {};  // and at the output
  std::optional<std::string> name = {};
  std::string others = "{}";               // the other fields of "metadata": the text of a JSON object
  std::vector<float> initial_states = {};  // of an LSTM: h and c of each layer; empty: zeros
  bool operator==(NamMetadata const&) const = default;
};

/// The same as the metadata of a model, which .juice files keep. What is not set has no entry; the others have the
/// names of the members as keys, but version and others, which are nam_version and nam_metadata. Control characters in
/// the name are spelt out.
[[nodiscard]] std::vector<persist::Entry> entries_of(NamMetadata const& metadata);
/// Reads these entries, and no others, from the metadata of a model. Throws FormatError with the key for a number that
/// is none or is not finite.
[[nodiscard]] NamMetadata nam_metadata_of(persist::Model const& model);

struct NamOptions {
  double size = 1;                  // which network of several is read, from 0 to 1: the greatest by default
  std::optional<Shape> input = {};  // {steps, channels} instead of {channels}, for training and forward
};

/// A network, and what the file says besides.
struct NamModel {
  persist::Model model;  // with entries_of(metadata)
  NamMetadata metadata = {};
  std::vector<double> sizes = {0};  // the least NamOptions::size of each network of the file, ascending
};

/// Whether the library was built with nlohmann-json, which .nam files need.
[[nodiscard]] bool has_nam();

/// Reads a .nam file of version 0.5.0 to 0.7.x: WaveNet, LSTM, ConvNet or Linear, a SlimmableContainer of these, or a
/// WaveNet that can be slimmed. A sample of the network is one step, {1}, so that `step` plays the model. The network
/// has no state yet: play silence first, as many steps as the model remembers.
///
/// Throws FileError; FormatError with the place in the JSON (config.layers[0].kernel_sizes[3]) if the file is damaged,
/// if a size is beyond what a model may have, or if there are more or fewer weights than the network needs;
/// UnsupportedError for another version, architecture or activation, or if the library was built without nlohmann-json.
/// All sizes and counts are checked before memory is taken.
[[nodiscard]] NamModel read_nam(std::string const& path, NamOptions const& options = {});

/// Writes, atomically, a network of the form that read_nam makes, with layers of the same names; those of
/// coldpress/amp.hpp have this form. Version 0.5.4 is written if it has all that the network needs, otherwise 0.7.0.
/// Throws UnsupportedError, which names the first layer that a .nam file cannot have there, or if the library was built
/// without nlohmann-json; DataError for a weight that is not finite; FormatError for metadata that are not a JSON
/// object; and FileError.
void write_nam(std::string const& path, persist::Model const& model, NamMetadata const& metadata);
/// The same with nam_metadata_of(model).
void write_nam(std::string const& path, persist::Model const& model);

}  // namespace coldpress::convert
