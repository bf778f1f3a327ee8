// Files of models, and a bound for what a crossfade between them may do.
#pragma once

#include "convert/nam_models.hpp"
#include "data/files.hpp"

#include <coldpress/audio/player.hpp>

#include <cmath>
#include <cstring>
#include <numbers>

namespace audio_test {

using namespace coldpress;

/// The text of a .nam file that multiplies by `factor`, and adds `bias`.
inline std::string amplifier(double factor, double bias = 0, std::string const& more = R"(, "sample_rate": 48000)") {
  return nam_test::file("Linear", R"({"receptive_field": 1, "bias": true})",
                        "[" + std::to_string(factor) + ", " + std::to_string(bias) + "]", more);
}
/// A WaveNet with two stacks, and what it makes of x after a long silence.
inline nam_test::Model wavenet(unsigned seed, std::vector<float> const& x = {}) {
  std::size_t const silence = 64;
  nam_test::Signal signal(silence, {0.0});
  for (float const value : x) signal.push_back({value});
  auto model = nam_test::wavenet({nam_test::Array{.head = 2}, nam_test::Array{.inputs = 2}}, signal, seed);
  model.y.erase(model.y.begin(), model.y.begin() + silence);
  return model;
}

/// Two tones that fade in.
inline std::vector<float> tones(std::size_t samples, double rate = 48000) {
  std::vector<float> x(samples);
  for (std::size_t t = 0; t < samples; ++t) {
    double const at = static_cast<double>(t) / rate;
    x[t] = static_cast<float>(std::min(1.0, at * 20) * (0.4 * std::sin(2 * std::numbers::pi * 220 * at) +
                                                        0.3 * std::sin(2 * std::numbers::pi * 1333 * at)));
  }
  return x;
}

/// A tone that can be repeated without a jump.
inline std::vector<float> loop(std::size_t samples) {
  std::vector<float> x(samples);
  for (std::size_t t = 0; t < samples; ++t) {
    double const at = static_cast<double>(t) / static_cast<double>(samples);
    x[t] = static_cast<float>(0.5 * std::sin(2 * std::numbers::pi * 6 * at));
  }
  return x;
}

inline std::vector<float> played(auto& player, std::vector<float> const& x, std::vector<std::size_t> const& blocks) {
  std::vector<float> y(x.size());
  std::size_t next = 0;
  for (std::size_t first = 0; first < x.size();) {
    std::size_t const count = std::min(blocks[next++ % blocks.size()], x.size() - first);
    player.process({x.data() + first, count}, {y.data() + first, count});
    first += count;
  }
  return y;
}
/// What a player makes of x that has had a model from the beginning.
inline std::vector<float> alone(std::string const& path, std::vector<float> const& x) {
  audio::Player player;
  player.load(path);
  return played(player, x, {256});
}

inline double largest_step(std::vector<float> const& y) {
  double most = 0;
  for (std::size_t t = 1; t < y.size(); ++t) most = std::max(most, std::abs(double{y[t]} - y[t - 1]));
  return most;
}
/// The greatest step between neighbouring samples of a sound that goes from one of these to another in `fade` samples,
/// along half a cosine: that of the sounds themselves, and the steepest place of the fade times their distance.
inline double step_bound(std::vector<std::vector<float>> const& sounds, double fade) {
  double step = 0, distance = 0;
  for (auto const& a : sounds) {
    step = std::max(step, largest_step(a));
    for (auto const& b : sounds) {
      for (std::size_t t = 0; t < a.size(); ++t) distance = std::max(distance, std::abs(double{a[t]} - b[t]));
    }
  }
  return (step + distance * std::numbers::pi / 2 / fade) * 1.001;
}

inline bool same_bits(std::vector<float> const& a, std::vector<float> const& b, std::size_t from = 0) {
  return a.size() == b.size() && std::memcmp(a.data() + from, b.data() + from, (a.size() - from) * sizeof(float)) == 0;
}

/// A file cut off at as many places as asked for; of a text, every other version has a byte instead that no text has.
inline std::vector<std::string> damaged(std::string const& bytes, std::size_t versions, bool text) {
  std::vector<std::string> all;
  for (std::size_t k = 0; k < versions; ++k) {
    std::size_t const place = bytes.size() * (k + 1) / (versions + 2);
    std::string copy = bytes;
    if (text && k % 2) {
      copy[place] = '\x01';
    } else {
      copy.resize(place);
    }
    all.push_back(copy);
  }
  return all;
}

}  // namespace audio_test
