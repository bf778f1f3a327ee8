// Writes plucked strings as a WAV file, to train models of amplifiers on: coldpress-pluck FILE [SECONDS] [SEED]

#include <coldpress/core/error.hpp>
#include <coldpress/data/sound.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>

namespace {

using coldpress::Index;
constexpr Index rate = 48000;

/// Adds a string of Karplus and Strong (1983), plucked now: noise in a delay line that is averaged as it goes round.
void pluck(std::vector<float>& sound, std::size_t begin, double pitch, double loudness, double damping,
           std::mt19937& random) {
  double const period = static_cast<double>(rate) / pitch - 0.5;
  auto const length = static_cast<std::size_t>(period);
  double const fraction = period - static_cast<double>(length);  // interpolated, so that strings are in tune
  std::vector<double> line(length + 1);
  double before = 0;
  for (double& value : line) {
    double const noise = 2 * static_cast<double>(random()) * 0x1p-32 - 1;
    value = before = 0.5 * before + 0.5 * noise;
  }
  std::size_t at = 0;
  for (std::size_t i = begin; i < std::min(sound.size(), begin + 4 * static_cast<std::size_t>(rate)); ++i) {
    std::size_t const next = at + 1 == line.size() ? 0 : at + 1, after = next + 1 == line.size() ? 0 : next + 1;
    double const out = line[at];
    sound[i] += static_cast<float>(loudness * out);
    double const here = (1 - fraction) * line[next] + fraction * line[at];
    double const there = (1 - fraction) * line[after] + fraction * line[next];
    line[at] = damping * (here + there) / 2;
    at = next;
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || argc > 4) {
    std::fputs("usage: coldpress-pluck FILE [SECONDS] [SEED]\n", stderr);
    return 2;
  }
  double const seconds = argc > 2 ? std::strtod(argv[2], nullptr) : 120;
  std::mt19937 random{argc > 3 ? static_cast<unsigned>(std::strtoul(argv[3], nullptr, 10)) : 1};
  coldpress::data::Sound sound{.sample_rate = rate};
  sound.values.resize(static_cast<std::size_t>(std::clamp(seconds, 1.0, 3600.0) * static_cast<double>(rate)));
  // Single notes and chords of up to six strings between E2 and E6, soft and loud, from twelve in a second to one.
  auto const draw = [&](double low, double high) {
    return low + (high - low) * static_cast<double>(random()) * 0x1p-32;
  };
  for (double time = 0.1; time < seconds; time += draw(0.08, 1.0)) {
    int const strings = draw(0, 1) < 0.6 ? 1 : static_cast<int>(draw(2, 7));
    double const loudness = std::pow(10, draw(-40, 0) / 20), low = draw(40, 76);
    for (int s = 0; s < strings; ++s) {
      double const note = std::floor(low + s * draw(3, 6));
      pluck(sound.values, static_cast<std::size_t>((time + 0.004 * s) * static_cast<double>(rate)),
            440 * std::pow(2, (note - 69) / 12), loudness, draw(0.985, 0.9995), random);
    }
  }
  float peak = 0;
  for (float const value : sound.values) peak = std::max(peak, std::abs(value));
  for (float& value : sound.values) value *= 0.9f / peak;
  try {
    coldpress::data::write_sound(argv[1], sound, coldpress::data::SoundFormat::pcm24);
  } catch (coldpress::Error const& error) {
    std::fprintf(stderr, "coldpress-pluck: %s\n", error.what());
    return 1;
  }
  return 0;
}
