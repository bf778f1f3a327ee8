// Writes a model as a C++ header: its network as a type, and its weights as constants.
#pragma once

// Link coldpress::persist.

#include <coldpress/persist/model.hpp>

#include <optional>
#include <string>

namespace coldpress::persist {

/// A header that needs coldpress.hpp alone. In the namespace `name_space` it has `Network`, a coldpress::Network with
/// ConstantWeights for one sample per call, and its `weights`:
///
///   #include "amp.hpp"
///   static amp::Network net{amp::weights};
///
/// A program that uses it applies the model's transforms to samples itself: a comment says what they are, and the
/// namespace `transforms` has their statistics.
///
/// Throws what loading the model throws; UnsupportedError, which names the layer, for one that cannot be written as a
/// type; DataError for a weight that is not finite; ConfigError if the namespace is not a C++ name. `input` is the
/// shape of one sample, for a model that declares none.
[[nodiscard]] std::string cpp_header(Model const& model, std::string const& name_space,
                                     std::optional<Shape> input = {});

}  // namespace coldpress::persist
