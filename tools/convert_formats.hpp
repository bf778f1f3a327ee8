// The formats of files that coldpress convert reads and writes.
#pragma once

#include "source_files.hpp"

#include <coldpress/convert/onnx.hpp>
#include <coldpress/convert/weights.hpp>
#include <coldpress/data/npy.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace coldpress::command {

/// A kind of file. An empty function is something that the format does not have.
struct Format {
  std::string name;
  std::vector<std::string> endings;
  bool weights_only = false;  // networks are read into a config
  std::string about = {};     // what --help says of it, if not what follows from the functions
  bool named = false;         // its tensors may have the names of a map
  bool metadata = false;      // it holds what is known of a network besides its layers
  bool transforms = false;    // and what is done to samples before the network
  std::function<convert::Conversion(std::string const&, dynamic::LayerConfig, convert::Options const&)> read_network =
      {};
  std::function<void(std::string const&, persist::Model const&)> write_network = {};
  std::function<data::NpyArray(std::string const&)> read_array = {};
  std::function<void(std::string const&, data::NpyArray const&)> write_array = {};

  bool is_read() const { return read_network || read_array; }
  bool is_written() const { return write_network || write_array; }
};

/// What files of some formats are read and written with, besides convert::Options.
struct Chosen {
  double size = 1;                 // of the networks of a .nam file, ...
  std::vector<double> sizes = {};  // ... which has these
  bool channels_last = false;      // of images, in a model of Keras
  convert::NameMap names = {};
  convert::OnnxOptions onnx = {};  // with which a model is read
  TypeOptions type = {};           // with which a network is written as a type
};

/// All formats. Their functions read `chosen`, and write into it what they learn.
std::vector<Format> formats(std::shared_ptr<Chosen> const& chosen = std::make_shared<Chosen>());

/// Throws CLI::ValidationError if a path at which a network is to be saved, in one of the formats that are called so,
/// ends as files of another format do, or as those that hold no network, such as tables. If there is one format, other
/// endings, and none, are the user's choice; if there are several, the ending must say which is meant.
void check_ending(std::string const& option, std::string const& path, std::vector<std::string> const& names);

}  // namespace coldpress::command
