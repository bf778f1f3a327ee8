// Networks in files: Juice's format, packed or plain, with a checksum in those written here.
#pragma once

#include <coldpress/dynamic/layer_config.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace coldpress::persist {

struct NamedTensor {
  std::string name;
  std::vector<Index> shape;   // row-major, 1 to 8 extents of at least 1
  std::vector<float> values;  // as many as the shape says
  bool operator==(NamedTensor const&) const = default;
};

/// How files spell a name: output_size as outputSize.
std::string camel_case(std::string_view name);

/// Whether a field stands beside the kind of a loss, since Juice's schema has losses without fields.
constexpr bool stands_beside(std::string_view field) { return field.starts_with("loss_"); }

/// The text with all that a terminal would not show as it is spelt out: \x1b for a control character of ASCII or a byte
/// that is no UTF-8, \u{202e} for other controls and for those that change the direction of the writing.
std::string printable(std::string_view text);

/// A configuration and its weights. Shapes in `config` are those of one sample; in the file `batch` comes before each.
struct Model {
  std::string name = {};
  dynamic::LayerConfig config = {"", dynamic::SequentialConfig{}};
  std::vector<NamedTensor> weights = {};  // Juice's names ("fc1-0", "fc1-0-bias"), order and shapes
  Index batch = 1;
  bool checksummed = true;  // whether the file read has a checksum; Juice's have none, those written here always do
  bool operator==(Model const&) const = default;
};

using coldpress::LoadOptions;

/// Reads all of a file or throws: FileError; FormatError where the bytes are no such message, names are not unique or a
/// tensor does not have the values its shape says; ChecksumError; ConfigError where a value of the configuration means
/// nothing or a shape cannot be split into batch and sample; UnsupportedError for a kind of layer of a newer schema.
/// The first extent of a shape is the batch; where the weights contradict that, they decide.
Model read_model(std::string const& path, LoadOptions options = {});

/// As read_model, of bytes in memory; `file` names them in errors.
Model parse_model(std::span<std::byte const> bytes, std::string const& file);

/// Turns the filters of all convolutions over images by 180 degrees.
void rotate_filters(Model& model);

/// The same network for Juice to load: it expects a bias for every convolution, of its output's shape, and ignores it.
/// Throws ConfigError where a convolution or pooling is none that Juice can compute.
Model for_juice(Model model);

/// Writes packed, as Juice does, and atomically: afterwards `path` holds all of the model or is as it was. Throws
/// ConfigError or FormatError for what read_model would refuse, and FileError.
void write_model(std::string const& path, Model const& model);

/// The bytes that write_model writes.
std::vector<std::byte> serialize(Model const& model);

}  // namespace coldpress::persist
