// Weights of other frameworks' files, put into a config's network. Link coldpress::convert.
#pragma once

#include <coldpress/persist/model.hpp>

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace coldpress::convert {

/// Values of a file for one weight of a layer.
struct Blob {
  std::string layer;         // the layer's name in the file, which is looked up in the config
  std::string suffix;        // which weight of the layer it is, as in files of coldpress: "-0", "-0-bias", "-0-mean"
  std::string origin;        // what the file calls it, for messages: "conv1___filter"
  std::vector<Index> shape;  // row-major, without the batch; none for a single number
  std::function<void(std::span<float>)> read;  // writes all values; called once, after everything was checked
  bool implied =
      false;  // not in the file, but what its format means without it: ignored if the config has no such weight

  /// A blob with only some of the values of a weight: those from number `first` on, as many as `shape` has, with which
  /// the blob's shape is compared.
  struct Part {
    Index first = 0;
    std::vector<Index> shape = {};
  };
  std::optional<Part> part = {};  // unset: the blob has all values. A part whose `read` is empty is known to be missing
};

/// The names in a file for what has other names in the config, for formats whose tensors have PyTorch's names. The
/// names of each line, THEIRS and OURS, are those of a tensor, or of a module and all that is in it. One * in both
/// stands for any text. The first line that applies is taken; a tensor of a line without OURS is left out. OURS may
/// also be the name of a weight in files of coldpress ("norm-0-mean"), for a tensor with the layout that it has there.
struct NameMap {
  std::vector<std::pair<std::string, std::string>> lines = {};
};

/// Reads a file of lines THEIRS = OURS; # begins a comment. Throws FileError, and FormatError with the line.
[[nodiscard]] NameMap read_name_map(std::string const& path);

struct Options {
  std::optional<Shape> input = {};  // the shape of one sample, if the config declares none
  bool allow_missing = false;       // weights that the file lacks keep their initial values
  std::uint64_t seed = 0;           // of the initial values
  NameMap names = {};               // for read_safetensors and read_npz
};

/// A network that is complete, and how its weights came about.
struct Conversion {
  persist::Model model;
  std::vector<std::pair<std::string, std::string>> filled = {};  // each weight and its origin in the file
  std::vector<std::string> initialised = {};                     // weights that the file lacks
  std::vector<std::string> unused = {};  // blobs of layers that the config does not have, with their shapes
};

/// The config's network with the weights of the blobs, which are matched by layer and suffix. Shapes are compared
/// without extents of 1, which change no order. A bias that is missing has its initial value.
///
/// Throws MismatchError, which names everything that does not fit with the shapes of both sides: a blob of another
/// shape, a blob of a layer that has no such weight, a blob that is there twice, a weight other than a bias that is
/// missing, a part that is missing, and a weight that layers share but that has other values in each. Throws DataError
/// for a value that is not finite, and what Layer::from_config throws for a wrong config. No value is read before all
/// shapes fit.
[[nodiscard]] Conversion fill(dynamic::LayerConfig config, std::vector<Blob> const& blobs, Options const& options = {});

}  // namespace coldpress::convert
