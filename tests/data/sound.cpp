#include <coldpress/data/sound.hpp>

#include <coldpress/data/segments.hpp>

#include "data/files.hpp"
#include "data/python_files.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <random>

using namespace coldpress;
using namespace coldpress::data;

namespace {

/// Frames of `channels` channels by Python's module wave, which writes integers alone.
struct WaveFiles : PythonFiles {
  WaveFiles() : PythonFiles("make_wav.py", "wave, array") {}
};

std::string wav(std::string const& data, std::uint32_t promised, int bits = 16, int channels = 1, int kind = 1,
                std::string const& between = "") {
  auto const number = [](std::uint32_t value, int bytes) {
    std::string text;
    for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> 8 * i & 255);
    return text;
  };
  auto const size = static_cast<std::uint32_t>(bits / 8 * channels);
  std::string const chunks = "WAVEfmt " + number(16, 4) + number(static_cast<std::uint32_t>(kind), 2) +
                             number(static_cast<std::uint32_t>(channels), 2) + number(48000, 4) +
                             number(48000 * size, 4) + number(size, 2) + number(static_cast<std::uint32_t>(bits), 2) +
                             between + "data" + number(promised, 4) + data;
  return "RIFF" + number(static_cast<std::uint32_t>(chunks.size()), 4) + chunks;
}

}  // namespace

TEST_CASE("WAV files of Python, of 8 to 32 bits and one or more channels, are read as they are") {
  WaveFiles const files;
  if (!files.made) return;
  for (int const bits : {8, 16, 24, 32}) {
    INFO(bits);
    Sound const mono = read_sound(files.path("mono" + std::to_string(bits) + ".wav"));
    CHECK(mono.sample_rate == 44100);
    CHECK(mono.channels == 1);
    double const full = std::ldexp(1.0, bits - 1);
    // As make_wav.py has them: the least, the greatest, and parts of full scale.
    std::array const wanted{-1.0, 1 - 1 / full, 0.0, 0.5, -0.25};
    REQUIRE(mono.frames() == 5);
    for (std::size_t i = 0; i < 5; ++i) CHECK(mono.values[i] == static_cast<float>(wanted[i]));
    Sound const stereo = read_sound(files.path("stereo" + std::to_string(bits) + ".wav"));
    CHECK(stereo.channels == 2);
    CHECK(stereo.values == std::vector<float>{0, 0.5f, 0.25f, -0.5f});
  }
}

TEST_CASE("a chunk of odd length before the sound has a byte behind it that does not count") {
  TemporaryFolder const folder;
  std::string const list = unhex("4c49535403000000") + "abc" + '\0';
  Sound const sound = read_sound(folder.put("a.wav", wav(unhex("00400080"), 4, 16, 1, 1, list)));
  CHECK(sound.values == std::vector<float>{0.5f, -1});
  std::string const path = folder.put("cut.wav", wav(unhex("00400080"), 6, 16, 1, 1, list));
  CHECK(contains(message<FormatError>([&] { read_sound(path); }), "cut.wav: ends after 4 of 6 bytes of sound"));
}

TEST_CASE("what is written is read, to half of a step of each format, and cut off at full scale") {
  TemporaryFolder const folder;
  std::string const path = folder / "a.wav";
  Sound sound{96000, 2, {0, 1, -1, 0.3f, -0.7f, 1.5f, -3, 1e-4f}};
  write_sound(path, sound);
  Sound const same = read_sound(path);
  CHECK(same.values == sound.values);
  CHECK(same.sample_rate == 96000);
  CHECK(same.channels == 2);
  std::string const first = content(path);
  write_sound(path, sound);
  CHECK(content(path) == first);  // no time of day
  for (auto const& [format, bits] :
       {std::pair{SoundFormat::pcm16, 16}, {SoundFormat::pcm24, 24}, {SoundFormat::pcm32, 32}}) {
    INFO(bits);
    write_sound(path, sound, format);
    CHECK(content(path).size() == 44 + 8 * static_cast<std::size_t>(bits) / 8);
    Sound const read = read_sound(path);
    double const step = std::ldexp(1.0, 1 - bits);
    for (std::size_t i = 0; i < sound.values.size(); ++i) {
      double const wanted = std::clamp(static_cast<double>(sound.values[i]), -1.0, 1 - step);
      CHECK(std::abs(static_cast<double>(read.values[i]) - wanted) <= step / 2 + 6e-8 * std::abs(wanted));
    }
    write_sound(path, read, format);
    CHECK(read_sound(path).values == read.values);
  }
}

TEST_CASE("sound that cannot be read is a typed error that names the file") {
  TemporaryFolder const folder;
  auto const refused = [&](std::string const& bytes) {
    std::string const path = folder.put("bad.wav", bytes);
    return message<FormatError>([&] { read_sound(path); });
  };
  CHECK(contains(message<FileError>([&] { read_sound(folder / "missing.wav"); }), "missing.wav"));
  CHECK(contains(refused(""), "bad.wav: is not a WAV file"));
  CHECK(contains(refused("fLaC" + std::string(60, '\0')), "is not a WAV file"));
  CHECK(contains(refused(wav("", 0)), "has no frames"));
  CHECK(contains(refused(wav("abcdef", 12)), "ends after 6 of 12 bytes of sound"));
  CHECK(contains(refused(wav("abcdef", 6, 8, 1, 7)), "is compressed"));
  std::string const nan = unhex("0000803f0000c07f");
  std::string const path = folder.put("nan.wav", wav(nan, 8, 32, 1, 3));
  CHECK(contains(message<DataError>([&] { read_sound(path); }), "nan.wav: the value of frame 1 is nan"));
}

TEST_CASE("sound that cannot be written is a typed error, and leaves the file alone") {
  TemporaryFolder const folder;
  std::string const path = folder.put("a.wav", "old");
  CHECK_THROWS_AS(write_sound(path, {48000, 2, {1, 2, 3}}), ShapeError);
  CHECK_THROWS_AS(write_sound(path, {48000, 1, {}}), ShapeError);
  CHECK_THROWS_AS(write_sound(path, {0, 1, {1}}), ShapeError);
  CHECK_THROWS_AS(write_sound(path, {48000, 1, {INFINITY}}), DataError);
  CHECK_THROWS_AS(write_sound(folder / "none/a.wav", {48000, 1, {1}}), FileError);
  CHECK(content(path) == "old");
}

TEST_CASE("signals are two files of one channel and one rate, and errors say which has what") {
  TemporaryFolder const folder;
  std::string const a = folder / "in.wav", b = folder / "out.wav", two = folder / "two.wav";
  write_sound(a, {44100, 1, {1, 0, 0, 0}});
  write_sound(b, {48000, 1, {0, 1, 0, 0, 0}});
  write_sound(two, {44100, 2, {0, 1}});
  std::string const rates = message<MismatchError>([&] { read_signals(a, b); });
  CHECK(contains(rates, "in.wav has 44,100 Hz, "));
  CHECK(contains(rates, "out.wav 48,000"));
  CHECK(contains(message<FormatError>([&] { read_signals(a, two); }), "two.wav: has 2 channels, expected 1"));
  CHECK(read_signals(a, a).sample_rate == 44100);
}

TEST_CASE("the format sound: has segments of two files") {
  TemporaryFolder const folder;
  std::string const a = folder / "in.wav", b = folder / "out.wav";
  write_sound(a, {48000, 1, {1, 2, 3, 4, 5, 6, 7, 8}});
  write_sound(b, {48000, 1, {0, 1, 2, 3, 4, 5, 6, 7}});
  std::string const spec = "sound:" + a + "," + b;
  Dataset const cut = open(spec + "?length=2&run-in=1&delay=1");
  CHECK(cut.sample_shape == Shape{3, 1});
  CHECK(cut.target_shape == Shape{2, 1});
  CHECK(cut.samples == std::vector<float>{1, 2, 3, 3, 4, 5, 5, 6, 7});
  CHECK(cut.targets == std::vector<float>{2, 3, 4, 5, 6, 7});
  CHECK_THROWS_AS(open(spec), ConfigError);  // too short for 8,192 steps
  CHECK_THROWS_AS(open(spec + "?length=2&delay=x"), ConfigError);
  CHECK_THROWS_AS(open(spec + "?length=2&run-in=-1"), ConfigError);
  CHECK_THROWS_AS(open("sound:" + a), ConfigError);
  CHECK(files_of(spec) == std::vector{a, b});
}

TEST_CASE("a delay that is to be found, and is not, is an error of sound: with what to do") {
  TemporaryFolder const folder;
  std::string const a = folder / "in.wav", b = folder / "out.wav", silent = folder / "silent.wav";
  std::mt19937 generator{1};
  std::uniform_real_distribution<float> values{-1, 1};
  Sound x{.values = std::vector<float>(2000)}, y{.values = std::vector<float>(1500)};
  for (float& value : x.values) value = values(generator);
  std::copy_n(x.values.begin(), y.values.size() - 3, y.values.begin() + 3);
  write_sound(a, x), write_sound(b, y), write_sound(silent, {.values = std::vector<float>(2000)});
  auto const spec = [&](std::string const& output) { return "sound:" + a + "," + output + "?length=2&delay=find"; };
  CHECK(open(spec(b)).targets == std::vector<float>(x.values.begin(), x.values.begin() + 1496));
  CHECK(message<DataError>([&] { open(spec(silent)); }) ==
        "no delay of at most 2000 samples was found between " + a + " and " + silent +
            ": the second does not seem to follow from the first. With delay=N, it is taken as N samples later");
}
