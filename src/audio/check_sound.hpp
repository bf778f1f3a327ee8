// What sound must be like to be played.
#pragma once

#include <coldpress/core/shape.hpp>

#include <sstream>

namespace coldpress::audio {

/// Throws DataError unless `value` is from `least` to `most`.
inline void check_range(char const* what, double value, double least, double most, char const* unit) {
  if (value >= least && value <= most) return;
  std::ostringstream sentence;
  sentence << what << " is " << value << unit << ", expected " << least << " to " << most << unit;
  throw DataError{sentence.str()};
}
inline void check_rate(char const* what, double rate) { check_range(what, rate, 1000, 1e6, " Hz"); }
/// Checks a sample rate in Hz and the number of samples of a block.
inline void check_sound(double sample_rate, Index most) {
  check_rate("the sample rate of the sound", sample_rate);
  if (most < 1) refuse("play: a block has ", most, " samples, expected at least 1");
}

}  // namespace coldpress::audio
