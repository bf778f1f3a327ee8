// A text as samples of a language model, which predicts each byte from those before it.
#pragma once

#include <coldpress/data/source.hpp>

#include <memory>
#include <string>

namespace coldpress::data {

struct TextOptions {
  Index steps = 128;  // bytes of a sample
  Index stride = 0;   // bytes from the start of a sample to that of the next; 0: as many as a sample has
};
/// The file's bytes, numbers from 0 to 255, as samples {steps}, and for each step the next byte as its target {steps,
/// 1}. Any text is possible; a character of UTF-8 beyond ASCII is several bytes. Bytes are read as they are needed.
/// Throws FileError, ConfigError for numbers out of range, and FormatError if the file is too short for one sample.
std::unique_ptr<Source> open_text(std::string const& path, TextOptions options = {});

}  // namespace coldpress::data
