// The reader of WAV files.
#include <coldpress/data/sound.hpp>

#include "fuzz.hpp"

#include <cmath>

void coldpress::fuzz::run(std::span<std::byte const> bytes) {
  MemoryFile const file{bytes};
  try {
    data::Sound const sound = data::read_sound(file.path());
    demand(sound.frames() > 0 && sound.sample_rate > 0, "a sound without frames was read");
    demand(sound.frames() * sound.channels == static_cast<Index>(sound.values.size()), "a frame is not whole");
    for (float const value : sound.values) demand(std::isfinite(value), "a value is not finite");
  } catch (Error const& error) {
    demand(error.file() == file.path(), "an error does not name its file");
  }
}
