// What a model of Keras is read from: its config, and its variables.
#pragma once

#include "keras_layout.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace coldpress::convert::keras {

/// Where the variables of a layer are.
struct Place {
  std::string path;                // in a .keras file: "layers/bidirectional/forward_layer/cell"
  std::vector<std::string> names;  // in a .h5 file: those of the layer and of what is in it, in the dataset's path

  /// A part of the layer.
  Place part(std::string const& its_path, std::string const& its_name = "") const {
    Place place{path + "/" + its_path, names};
    if (!its_name.empty()) place.names.push_back(its_name);
    return place;
  }
};

class Contents {
 public:
  virtual ~Contents() = default;

  /// The JSON of the model.
  virtual std::string const& config() const = 0;
  /// The version of Keras that wrote it: "3.15.1".
  virtual std::string version() const = 0;
  /// Variable `number` of the layer, which is called `name`. Throws FormatError if it is missing or has another shape,
  /// or if the variables have more values than a file may unpack to, UnsupportedError if its values are no floats of 16
  /// bits or more, and DataError if a value is infinite, NaN or beyond the range of a float, or a
  /// variance is below 0.
  virtual Array read(Place const& place, std::size_t number, std::string_view name,
                     std::vector<Index> const& shape) = 0;
  /// Counts values of that shape with those that are read, before they are made of fewer; returns their number. Throws
  /// FormatError like read.
  virtual Index count(std::string const& what, std::vector<Index> const& shape) = 0;
};

}  // namespace coldpress::convert::keras
