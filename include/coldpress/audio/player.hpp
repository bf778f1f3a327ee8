// What a plugin needs to play models of amplifiers: loading while sound runs, crossfades, levels. Link
// coldpress::audio.
#pragma once

#include <coldpress/audio/playable_model.hpp>

#include <atomic>
#include <cmath>

namespace coldpress::audio {

struct PlayerOptions {
  double sample_rate = 48000;  // of the sound, in Hz
  Index most = 1024;           // samples of a block; longer ones are cut
  double fade = 0.02;          // seconds from one model to the next
  double loudness = -18;       // dB that models are brought to
};

/// Plays one channel through the model that was loaded last. Until there is one, the input goes through unchanged.
///
/// `load` and `collect` belong to a thread that may wait, one call at a time; the other functions to the audio thread,
/// where they allocate nothing, take no lock and make no system call. A new model is prepared by `load` and then handed
/// over. It hears what is played, for a tenth of a second at most, until it knows all that its output depends on; then
/// one model fades into the other. The old one is destroyed by the next `load`, `collect` or the destructor.
class Player {
 public:
  /// Throws ShapeError if a block has less than one sample, and DataError if the sample rate is out of range.
  explicit Player(PlayerOptions const& options = {});
  ~Player();
  Player(Player const&) = delete;
  Player& operator=(Player const&) = delete;

  /// Throws what PlayableModel's constructor throws; the model that plays then goes on. A model that is handed over
  /// before the first block plays from its first sample.
  void load(std::string const& path, double size = 1);
  /// Destroys the models that have faded out.
  void collect();

  /// Plays a block of any length; `y` has as many samples as `x`, and may be the same memory. Samples that are not
  /// finite are taken as silence. Throws ShapeError if the lengths differ.
  void process(std::span<float const> x, std::span<float> y);
  /// Gains in dB, and whether each model is brought to the loudness of the options.
  void set_input_gain(float decibels);
  void set_output_gain(float decibels);
  void set_normalized(bool normalized) { normalized_.set(normalized ? 1.f : 0.f); }
  /// Ends a crossfade at once, and lets the next sample be the first one after silence.
  void reset();

  /// The model that plays or, before the first block and after `reset`, that is about to; null if there is none. It
  /// lives until the next `collect` after another one has taken its place.
  PlayableModel const* model();
  /// How many samples later the sound comes out than in; see PlayableModel::latency.
  Index latency() { return model() ? model()->latency() : 0; }
  /// How many models were taken from `load`: it grows by one when `model` changes.
  Index changes() const { return changes_; }
  /// Whether there is something to `collect`.
  bool has_retired() const { return retired_.load(std::memory_order_relaxed) != nullptr; }

 private:
  /// A value that follows what is set within some hundredths of a second, so that no step is heard.
  class Smoothed {
   public:
    Smoothed(float value, double sample_rate);
    void set(float target) { target_ = target; }
    void arrive() { value_ = target_; }
    float next() {
      value_ += rate_ * (target_ - value_);
      if (std::abs(target_ - value_) < 3e-5f * (1 + std::abs(target_))) value_ = target_;
      return value_;
    }

   private:
    float value_, target_, rate_;
  };
  struct Voice;
  void take_next();
  void arrive();
  void retire(Voice* voice);
  static void play(Voice* voice, std::span<float const> x, std::span<float> y);
  float level(Voice const* voice, float normalized) const;
  void process_some(std::span<float const> x, std::span<float> y);

  PlayerOptions options_;
  std::vector<float> fade_;               // the weight of the new model, sample by sample
  std::vector<float> input_, old_, new_;  // of a block
  Smoothed input_gain_, output_gain_, normalized_;
  bool playing_ = false;  // whether a sample was played since the beginning or reset
  Index changes_ = 0;
  Voice* voice_ = nullptr;
  Voice* incoming_ = nullptr;
  std::size_t to_hear_ = 0, faded_ = 0;    // samples that the incoming one must still hear, and that it has faded
  std::atomic<Voice*> next_ = nullptr;     // from `load` to the audio thread
  std::atomic<Voice*> retired_ = nullptr;  // and a list of them back
};

}  // namespace coldpress::audio
