// Writes a network as a type in a C++ header. Link coldpress::convert.
#pragma once

#include <coldpress/persist/model.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace coldpress::convert {

/// What a header says of a network besides its layers.
struct CppTypeOptions {
  std::string name_space = "network";
  std::optional<Shape> input = {};  // the shape of one sample, if the config declares none
  std::string origin = {};          // what the network was made from, "model.onnx", for a comment; empty: not said
  std::string weights = {};         // the file that has its weights, for a comment; empty: there is none yet
};

/// A header that needs coldpress.hpp and persist.hpp. In its namespace it has `Type`, a Sequential or the Graph of a
/// function, `Network`, which is the coldpress::Network of that type for any number of samples, and `load`, which reads
/// the weights from a file of coldpress:
///
///   #include "model.hpp"
///   auto net = model::load("model.juice");
///   auto const y = net.forward(x);
///
/// It is written for readers: only the fields that differ from their defaults, numbers that are read back as the same
/// floats, variables named after layers, and names only for layers of which they are seen: those with weights, random
/// numbers, losses, statistics, and each of several outputs. Losses, statistics, initial values and factors of weights
/// are part of the type; transforms of samples are not, and are mentioned in a comment.
///
/// Throws what making a network from the config throws; UnsupportedError, which names every layer that cannot be part
/// of a type and the reason; ConfigError if the namespace is not a C++ name.
[[nodiscard]] std::string cpp_type(persist::Model const& model, CppTypeOptions const& options = {});

/// Throws ConfigError unless a user may give a namespace this name, such as amp or my::amp.
void check_namespace(std::string_view name);

/// A namespace that is named after a file: my_net for "nets/my-net.hpp".
[[nodiscard]] std::string namespace_of(std::string const& path);

}  // namespace coldpress::convert
