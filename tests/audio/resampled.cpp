// Models for another sample rate than the sound's.
#include "audio/models.hpp"

#include "support/catch.hpp"

#include <coldpress/core/error.hpp>

using namespace audio_test;

namespace {

std::string for_rate(double rate) { return ", \"sample_rate\": " + std::to_string(rate); }

/// Nothing, aloud, if there is no resampler.
std::unique_ptr<audio::PlayableModel> made(std::string const& path, audio::PlayOptions const& options) {
  try {
    return std::make_unique<audio::PlayableModel>(path, options);
  } catch (UnsupportedError const& error) {
    CHECK_THAT(error.what(), Catch::Contains("libsamplerate0-dev"));
    WARN("skipped: " << error.what());
    return nullptr;
  }
}

}  // namespace

TEST_CASE("a model for another sample rate gives the same sound, as late as it says") {
  TemporaryFolder folder;
  for (auto const& [outer, inner] :
       {std::pair{44100., 48000.}, {48000., 44100.}, {96000., 48000.}, {44100., 96000.}, {48000., 47999.}}) {
    INFO("sound " << outer << " Hz, model " << inner << " Hz");
    auto const path = folder.put("a.nam", amplifier(1, 0, for_rate(inner)));
    auto const model = made(path, {.sample_rate = outer, .most = 64});
    if (!model) return;
    CHECK(model->sample_rate() == inner);
    auto const late = static_cast<std::size_t>(model->latency());
    CHECK(late > 0);
    CHECK(late < outer / 400);
    auto const x = tones(30000, outer);
    auto const y = played(*model, x, {64});
    double most = 0;
    for (std::size_t t = late; t < y.size(); ++t) most = std::max(most, std::abs(double{y[t]} - x[t - late]));
    CHECK(most < 1e-3);  // 97 dB below the peak of 0.7 is 1e-5, and the bandwidth ends far above these tones
    // The converters and their queue work alike for all cuts.
    for (std::vector<std::size_t> const& blocks : {std::vector<std::size_t>{1}, {7}, {512}, {3, 0, 64, 130}}) {
      model->reset();
      CHECK(same_bits(played(*model, x, blocks), y));
    }
  }
}

TEST_CASE("what a model makes of silence is there from the first sample") {
  TemporaryFolder folder;
  auto const model = made(folder.put("a.nam", amplifier(1, 0.25, for_rate(44100))), {.sample_rate = 48000});
  if (!model) return;
  for (float const value : played(*model, std::vector<float>(2000), {64})) CHECK(value == Approx(0.25).margin(1e-4));
}

TEST_CASE("a player knows its latency before the first block") {
  TemporaryFolder folder;
  auto const file = folder.put("a.nam", amplifier(0.5, 0, for_rate(44100)));
  auto const model = made(file, {});
  if (!model) return;
  audio::Player player;
  player.load(file);
  CHECK(player.latency() == model->latency());
}

TEST_CASE("a player goes from one sample rate to the other") {
  TemporaryFolder folder;
  auto const a = folder.put("a.nam", amplifier(0.5, 0, for_rate(48000))),
             b = folder.put("b.nam", amplifier(0.5, 0, for_rate(44100)));
  if (!made(b, {})) return;
  auto const x = tones(9000);
  audio::Player player;
  player.load(a);
  auto y = played(player, x, {64});
  CHECK(player.latency() == 0);
  player.load(b);
  auto const more = played(player, x, {64});
  CHECK(player.latency() > 0);
  CHECK(largest_step(more) < 1.1 * largest_step(y));
}
