// Sound in WAV files. Link coldpress::sound, with which open_source knows "sound:", too.
#pragma once

#include <coldpress/core/shape.hpp>

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace coldpress::data {

/// Frames one after another, each with a value for each channel. Full scale is from -1 to 1.
struct Sound {
  Index sample_rate = 48000;  // frames per second
  Index channels = 1;
  std::vector<float> values = {};
  Index frames() const { return static_cast<Index>(values.size()) / channels; }
};

/// Reads a WAV file (RIFF or RF64) of 8, 16, 24 or 32 bit integers, or of floats or doubles. Integers are divided by
/// full scale. Throws FileError; FormatError, which names the file, if it is damaged, compressed, cut short or without
/// frames; DataError for a value that is not finite; and UnsupportedError if coldpress::sound is not linked.
Sound read_sound(std::string const& path);

/// How values are stored. Integers are rounded, and cut off at full scale.
enum class SoundFormat { pcm16, pcm24, pcm32, float32 };
constexpr auto spellings(SoundFormat) { return std::array<std::string_view, 4>{"pcm16", "pcm24", "pcm32", "float32"}; }
/// Writes a WAV file, atomically. Throws ShapeError unless there are whole frames of 1 to 1024 channels, at least one,
/// and a sample rate from 1 to 2^30; DataError for a value that is not finite; FileError; and UnsupportedError if
/// coldpress::sound is not linked.
void write_sound(std::string const& path, Sound const& sound, SoundFormat format = SoundFormat::float32);

}  // namespace coldpress::data
