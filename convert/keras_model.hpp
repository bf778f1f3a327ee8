// Makes a coldpress model from the config and the variables of a model of Keras.
#pragma once

#include <coldpress/convert/keras.hpp>

#include "keras_contents.hpp"

namespace coldpress::convert::keras {

/// Reads a model as read_keras does, whatever it is kept in. Errors name no file.
[[nodiscard]] persist::Model read_model(Contents& contents, KerasOptions const& options);

}  // namespace coldpress::convert::keras
