// The curves of a training as a picture.
#pragma once

#include <coldpress/train/trainer.hpp>

#include <string>

namespace coldpress::command {

/// Writes an SVG file with the curves of loss and accuracy; nothing if there are none. Throws FileError.
void write_report(std::string const& file, train::Trainer const& trainer);

}  // namespace coldpress::command
