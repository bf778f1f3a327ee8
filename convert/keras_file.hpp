// The two kinds of Keras' files: the config of a model, and its variables.
#pragma once

#include "hdf5/library.hpp"
#include "keras_layout.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace coldpress::convert::keras {

/// Where the variables of a layer are.
struct Place {
  std::string path;                // in a .keras file: "layers/bidirectional/forward_layer/cell"
  std::vector<std::string> names;  // in a .h5 file: those of the layer and of what is in it, in the dataset's path

  /// A part of the layer.
  Place part(std::string const& its_path, std::string const& its_name = "") const;
};

class File {
 public:
  explicit File(std::string const& path);

  /// The JSON of the model.
  std::string const& config() const { return config_; }
  /// The version of Keras that wrote it: "3.15.1".
  std::string version() const;
  /// Variable `number` of the layer, which is called `name`. Throws FormatError if it is missing or has another shape,
  /// or if the variables of the file have more values than it may unpack to.
  Array read(Place const& place, std::size_t number, std::string_view name, std::vector<Index> const& shape);

 private:
  void open_archive();
  std::string name_of(Place const& place, std::size_t number, std::string_view name) const;

  std::string path_, config_;
  hdf5::Id file_;
  bool archive_ = false;
  std::vector<std::string> datasets_;  // of a .h5 file; their paths below the weights
  std::uint64_t left_ = 0;             // bytes of floats that may still be read
};

/// Whether an HDF5 file has the config of a model of Keras.
bool has_model(std::string const& path);

}  // namespace coldpress::convert::keras
