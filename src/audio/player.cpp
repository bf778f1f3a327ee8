// Hands models from the thread that loads them to the audio thread and back, crossfades between them, and sets levels.
#include <coldpress/audio/player.hpp>
#include "check_sound.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace coldpress::audio {

namespace {
constexpr double most_hearing = 0.1;  // seconds that a new model hears before it fades in
constexpr double smoothing = 0.01;    // seconds in which a gain comes e times closer to what was set

float factor(float decibels) {
  // Extreme values and NaN would stay in the smoothed gain.
  return std::isnan(decibels) ? 1 : std::pow(10.f, std::clamp(decibels, -120.f, 120.f) / 20);
}

/// Weights from 0 to 1 along half a cosine, which has no corner at either end.
std::vector<float> fade_of(double samples) {
  std::vector<float> weights(static_cast<std::size_t>(std::max(1., std::round(samples))));
  for (std::size_t i = 0; i < weights.size(); ++i) {
    double const at = static_cast<double>(i + 1) / static_cast<double>(weights.size());
    weights[i] = static_cast<float>((1 - std::cos(std::numbers::pi * at)) / 2);
  }
  return weights;
}
}  // namespace

Player::Smoothed::Smoothed(float value, double sample_rate)
    : value_(value), target_(value), rate_(static_cast<float>(1 - std::exp(-1 / (smoothing * sample_rate)))) {}

/// A model, what is known of it before it plays, and the link of the list of models that have faded out.
struct Player::Voice {
  Voice(std::string const& path, PlayOptions const& play, PlayerOptions const& options)
      : model(path, play), level(model.level(options.loudness)) {
    double const ratio = options.sample_rate / model.sample_rate();
    double const heard =
        std::min(std::ceil(static_cast<double>(model.past()) * ratio) + 2 * static_cast<double>(model.latency()),
                 most_hearing * options.sample_rate);
    to_hear = static_cast<std::size_t>(heard);
  }
  PlayableModel model;
  float level;
  std::size_t to_hear = 0;
  Voice* next = nullptr;
};

Player::Player(PlayerOptions const& options)
    : options_(options),
      fade_((check_sound(options.sample_rate, options.most), fade_of(options.fade * options.sample_rate))),
      input_(static_cast<std::size_t>(options.most)),
      old_(input_.size()),
      new_(input_.size()),
      input_gain_(1, options.sample_rate),
      output_gain_(1, options.sample_rate),
      normalized_(1, options.sample_rate) {}

Player::~Player() {
  collect();
  delete voice_;
  delete incoming_;
  delete next_.load();
}

void Player::load(std::string const& path, double size) {
  collect();
  PlayOptions const play{.sample_rate = options_.sample_rate, .most = options_.most, .size = size};
  auto voice = std::make_unique<Voice>(path, play, options_);
  delete next_.exchange(voice.release());  // one that the audio thread has not taken yet
}

void Player::collect() {
  for (Voice* voice = retired_.exchange(nullptr); voice;) delete std::exchange(voice, voice->next);
}

void Player::retire(Voice* voice) {
  if (!voice) return;
  voice->next = retired_.load();
  while (!retired_.compare_exchange_weak(voice->next, voice)) {
  }
}

void Player::set_input_gain(float decibels) { input_gain_.set(factor(decibels)); }
void Player::set_output_gain(float decibels) { output_gain_.set(factor(decibels)); }

PlayableModel const* Player::model() {
  // What begins at once is taken already here, because what still belongs to `load` may be destroyed at any time.
  if (!playing_) take_next();
  Voice const* const voice = incoming_ ? incoming_ : voice_;
  return voice ? &voice->model : nullptr;
}

/// Lets the incoming model take the place of the one that plays.
void Player::arrive() {
  if (incoming_) retire(std::exchange(voice_, std::exchange(incoming_, nullptr)));
}

void Player::take_next() {
  if (incoming_ || !next_.load(std::memory_order_relaxed)) return;
  incoming_ = next_.exchange(nullptr);
  ++changes_;
  to_hear_ = incoming_->to_hear;
  faded_ = 0;
  if (!playing_) arrive();
}

void Player::reset() {
  arrive();
  if (voice_) voice_->model.reset();
  playing_ = false;
}

void Player::process(std::span<float const> x, std::span<float> y) {
  if (x.size() != y.size()) refuse("play: got ", x.size(), " samples in and ", y.size(), " out, expected equally many");
  for (std::size_t first = 0; first < x.size(); first += input_.size()) {
    std::size_t const count = std::min(input_.size(), x.size() - first);
    process_some(x.subspan(first, count), y.subspan(first, count));
  }
}

void Player::play(Voice* voice, std::span<float const> x, std::span<float> y) {
  if (voice) {
    voice->model.process(x, y);
  } else {
    std::ranges::copy(x, y.begin());
  }
}
float Player::level(Voice const* voice, float normalized) const {
  return voice ? 1 + normalized * (voice->level - 1) : 1;
}

void Player::process_some(std::span<float const> x, std::span<float> y) {
  take_next();
  if (!playing_) {
    for (Smoothed* const value : {&input_gain_, &output_gain_, &normalized_}) value->arrive();
    playing_ = true;
  }
  std::span<float> const input{input_.data(), x.size()}, old{old_.data(), x.size()}, next{new_.data(), x.size()};
  for (std::size_t i = 0; i < x.size(); ++i) input[i] = (std::isfinite(x[i]) ? x[i] : 0) * input_gain_.next();
  play(voice_, input, old);
  if (incoming_) play(incoming_, input, next);
  for (std::size_t i = 0; i < x.size(); ++i) {
    float const normalized = normalized_.next();
    float value = level(voice_, normalized) * old[i];
    if (incoming_ && to_hear_ > 0) {
      --to_hear_;
    } else if (incoming_) {
      float const weight = faded_ < fade_.size() ? fade_[faded_++] : 1;
      float const to = level(incoming_, normalized) * next[i];
      value = weight < 1 ? value + weight * (to - value) : to;
    }
    y[i] = output_gain_.next() * value;
  }
  if (incoming_ && faded_ == fade_.size()) arrive();
}

}  // namespace coldpress::audio
