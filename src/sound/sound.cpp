// Reads and writes sound with libsndfile, from and to memory, and refuses files that were cut.
#include <coldpress/data/sound.hpp>

#include "data/components.hpp"

#include <coldpress/core/counted.hpp>
#include <coldpress/core/error.hpp>
#include <coldpress/data/atomic_file.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <span>

#include <sndfile.h>

namespace coldpress::data {
namespace {

constexpr std::size_t most_bytes = std::size_t{1} << 32;
constexpr Index most_channels = 1024, most_rate = Index{1} << 30;

/// A file in memory for libsndfile, which then opens and locks no file itself.
struct Bytes {
  std::vector<std::byte> content = {};
  sf_count_t at = 0;

  static SF_VIRTUAL_IO functions() {
    return {[](void* own) { return size(own); },
            [](sf_count_t offset, int whence, void* own) {
              auto& bytes = *static_cast<Bytes*>(own);
              sf_count_t const from = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? bytes.at : size(own);
              sf_count_t const to = from + offset;
              return to < 0 ? sf_count_t{-1} : bytes.at = to;
            },
            [](void* to, sf_count_t count, void* own) {
              auto& bytes = *static_cast<Bytes*>(own);
              count = std::clamp<sf_count_t>(size(own) - bytes.at, 0, count);
              if (count > 0) std::memcpy(to, bytes.content.data() + bytes.at, static_cast<std::size_t>(count));
              bytes.at += count;
              return count;
            },
            [](void const* from, sf_count_t count, void* own) {
              auto& bytes = *static_cast<Bytes*>(own);
              auto const end = static_cast<std::size_t>(bytes.at + count);
              if (end > bytes.content.size()) bytes.content.resize(end);
              std::memcpy(bytes.content.data() + bytes.at, from, static_cast<std::size_t>(count));
              bytes.at += count;
              return count;
            },
            [](void* own) { return static_cast<Bytes*>(own)->at; }};
  }

 private:
  static sf_count_t size(void* own) { return static_cast<sf_count_t>(static_cast<Bytes*>(own)->content.size()); }
};

struct Close {
  void operator()(SNDFILE* file) const { sf_close(file); }
};
using File = std::unique_ptr<SNDFILE, Close>;

[[noreturn]] void malformed(std::string const& sentence) { throw FormatError{sentence}; }

std::uint32_t number_at(std::span<std::byte const> bytes, std::size_t at) {
  std::uint32_t number = 0;
  for (std::size_t i = 4; i-- > 0;) number = number << 8 | std::to_integer<std::uint32_t>(bytes[at + i]);
  return number;
}
bool is_at(std::span<std::byte const> bytes, std::size_t at, char const (&name)[5]) {
  return bytes.size() >= at + 4 && std::memcmp(bytes.data() + at, name, 4) == 0;
}

/// The library reads as much as there is. A file that promises more was cut, and is refused.
void check_complete(std::span<std::byte const> bytes) {
  for (std::size_t at = 12; bytes.size() - at >= 8;) {
    std::size_t const promised = number_at(bytes, at + 4), left = bytes.size() - at - 8;
    bool const data = is_at(bytes, at, "data");
    if (data && promised == 0xffffffff && is_at(bytes, 0, "RF64")) return;  // its size is elsewhere
    if (promised > left) {
      malformed("ends after " + std::to_string(left) + " of " + std::to_string(promised) + " bytes of " +
                (data ? "sound" : "a chunk of its header"));
    }
    if (data) return;
    at += 8 + std::min(promised + promised % 2, left);
  }
}

void check_format(int format) {
  switch (format & SF_FORMAT_SUBMASK) {
    case SF_FORMAT_PCM_U8:
    case SF_FORMAT_PCM_16:
    case SF_FORMAT_PCM_24:
    case SF_FORMAT_PCM_32:
    case SF_FORMAT_FLOAT:
    case SF_FORMAT_DOUBLE:
      return;
    default:
      malformed("is compressed; expected integers of 8, 16, 24 or 32 bits, or floats");
  }
}

void check_values(Sound const& sound) {
  auto const bad = std::ranges::find_if_not(sound.values, [](float value) { return std::isfinite(value); });
  if (bad == sound.values.end()) return;
  throw DataError{"the value of frame " + std::to_string((bad - sound.values.begin()) / sound.channels) + " is " +
                  (std::isnan(*bad) ? "nan" : "infinite")};
}

Sound decode(std::vector<std::byte> content) {
  if (!(is_at(content, 0, "RIFF") || is_at(content, 0, "RF64")) || !is_at(content, 8, "WAVE"))
    malformed("is not a WAV file");
  check_complete(content);
  Bytes bytes{std::move(content)};
  auto functions = Bytes::functions();
  SF_INFO info{};
  File const file{sf_open_virtual(&functions, SFM_READ, &info, &bytes)};
  if (!file) malformed(std::string{"cannot be read as sound: "} + sf_strerror(nullptr));
  check_format(info.format);
  if (info.channels < 1 || info.channels > most_channels || info.samplerate < 1 || info.samplerate > most_rate) {
    malformed("has " + counted(info.channels, "channel") + " and " + counted(info.samplerate, "frame") +
              " per second, expected 1 to " + std::to_string(most_channels) + " and 1 to 2^30");
  }
  if (info.frames < 1) malformed("has no frames");
  if (info.frames > static_cast<sf_count_t>(bytes.content.size()) / info.channels)
    malformed("promises " + std::to_string(info.frames) + " frames, more than it has bytes for");
  Sound sound{info.samplerate, info.channels,
              std::vector<float>(static_cast<std::size_t>(info.frames * info.channels))};
  sf_count_t const read = sf_readf_float(file.get(), sound.values.data(), info.frames);
  if (read != info.frames)
    malformed("has " + std::to_string(read) + " of " + std::to_string(info.frames) + " promised frames");
  check_values(sound);
  return sound;
}

Sound read(std::string const& path) {
  auto content = read_file(path, most_bytes);
  return with_file(path, [&] { return decode(std::move(content)); });
}

struct Stored {
  int kind, bits;  // 0 bits: floats
};
Stored stored(SoundFormat format) {
  switch (format) {
    case SoundFormat::pcm16:
      return {SF_FORMAT_PCM_16, 16};
    case SoundFormat::pcm24:
      return {SF_FORMAT_PCM_24, 24};
    case SoundFormat::pcm32:
      return {SF_FORMAT_PCM_32, 32};
    case SoundFormat::float32:
      break;
  }
  return {SF_FORMAT_FLOAT, 0};
}

void write(std::string const& path, Sound const& sound, SoundFormat format) {
  if (sound.channels < 1 || sound.channels > most_channels || sound.sample_rate < 1 || sound.sample_rate > most_rate ||
      sound.values.empty() || sound.values.size() % static_cast<std::size_t>(sound.channels) != 0) {
    throw ShapeError{"a sound of " + std::to_string(sound.values.size()) + " values in " +
                     std::to_string(sound.channels) + " channels at " + std::to_string(sound.sample_rate) +
                     " frames per second cannot be written"};
  }
  with_file(path, [&] { check_values(sound); });
  auto const [kind, bits] = stored(format);
  Bytes bytes;
  {
    auto functions = Bytes::functions();
    SF_INFO info{.frames = 0,
                 .samplerate = static_cast<int>(sound.sample_rate),
                 .channels = static_cast<int>(sound.channels),
                 .format = SF_FORMAT_WAV | kind,
                 .sections = 0,
                 .seekable = 0};
    File const file{sf_open_virtual(&functions, SFM_WRITE, &info, &bytes)};
    auto const failed = [&] {
      with_file(path, [&] { throw FileError{std::string{"cannot be written: "} + sf_strerror(file.get())}; });
    };
    if (!file) failed();
    sf_command(file.get(), SFC_SET_ADD_PEAK_CHUNK, nullptr, SF_FALSE);  // which has the time of day
    sf_count_t written = 0;
    if (bits == 0) {
      written = sf_writef_float(file.get(), sound.values.data(), sound.frames());
    } else {
      double const scale = std::ldexp(1.0, bits - 1);
      std::vector<int> integers(sound.values.size());  // aligned at the highest bit, as the library takes them
      std::ranges::transform(sound.values, integers.begin(), [&, shift = 32 - bits](float value) {
        double const whole = std::clamp(std::round(static_cast<double>(value) * scale), -scale, scale - 1);
        return static_cast<int>(static_cast<std::int64_t>(whole) * (std::int64_t{1} << shift));
      });
      written = sf_writef_int(file.get(), integers.data(), sound.frames());
    }
    if (written != sound.frames()) failed();
  }
  write_atomically(path, bytes.content);
}

}  // namespace

/// Makes the component known before main(), as images.cpp does.
extern "C" __attribute__((constructor(101))) void coldpress_sound_format() {
  components().read_sound = read;
  components().write_sound = write;
}

}  // namespace coldpress::data
