// Networks in files: Juice's format, packed or plain, with a checksum in the files written here.
#pragma once

#include <coldpress/data/transform.hpp>
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

/// Something known about a network besides its layers. Key and value are UTF-8 without control characters.
struct Entry {
  std::string key;  // not empty, and unique
  std::string value;
  bool operator==(Entry const&) const = default;
};
inline constexpr std::size_t max_metadata = 4096;  // entries

/// The spelling of a name in files: output_size becomes outputSize.
[[nodiscard]] std::string camel_case(std::string_view name);

/// Whether a field is stored beside the kind of a loss, because Juice's schema has losses without fields.
constexpr bool stands_beside(std::string_view field) { return field.starts_with("loss_"); }

/// The text with everything spelt out that a terminal would not show as it is: \x1b for an ASCII control character or a
/// byte that is not UTF-8, and \u{202e} for other control characters and for those that change the writing direction.
[[nodiscard]] std::string printable(std::string_view text);

/// A configuration and its weights. Shapes in `config` are those of one sample; in the file, `batch` precedes each of
/// them.
struct Model {
  std::string name = {};
  dynamic::LayerConfig config = {"", dynamic::SequentialConfig{}};
  std::vector<NamedTensor> weights = {};  // Juice's names ("fc1-0", "fc1-0-bias"), order and shapes
  Index batch = 1;
  bool checksummed = true;           // whether the file had a checksum: Juice's never do, those written here always do
  data::Transforms transforms = {};  // of samples before the network, as data::fit returns them
  std::vector<std::string> classes = {};  // the names of the classes that it tells apart, by label
  std::vector<Entry> metadata = {};       // keys of convert::NamMetadata are those of coldpress/convert/nam.hpp
  bool operator==(Model const&) const = default;
};

using coldpress::LoadOptions;

/// A file of coldpress or Juice is of another kind than the one that was to be read: model, checkpoint or training.
struct OtherKindError : FormatError {
  using FormatError::FormatError;
};

/// Reads a whole file or throws: FileError; FormatError if the bytes are not such a message, names are not unique or a
/// tensor does not have the values that its shape promises; of these OtherKindError for a checkpoint or a training;
/// ChecksumError; ConfigError if a value of the configuration makes no sense or a shape cannot be split into batch and
/// sample; UnsupportedError for a kind of layer from a newer schema. The first extent of a shape is the batch, unless
/// the weights contradict that.
Model read_model(std::string const& path, LoadOptions options = {});

/// Like read_model, for bytes in memory; `file` is the name in errors.
[[nodiscard]] Model parse_model(std::span<std::byte const> bytes, std::string const& file);

/// Rotates the filters of all convolutions over images by 180 degrees.
void rotate_filters(Model& model);

/// The same network in the form that Juice loads: Juice expects a bias with the shape of the output for every
/// convolution, and ignores it. Throws ConfigError for a convolution or pooling that Juice cannot compute.
Model for_juice(Model model);

/// Writes the model packed, as Juice does, and atomically: afterwards `path` holds the whole model or is unchanged.
/// Throws ConfigError or FormatError for what read_model would refuse, and FileError.
void write_model(std::string const& path, Model const& model);

/// The bytes that write_model writes.
std::vector<std::byte> serialize(Model const& model);

}  // namespace coldpress::persist
