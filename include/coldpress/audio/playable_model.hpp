// A model of an amplifier or an effect from a file, ready to play at the sample rate of a host. Link coldpress::audio.
#pragma once

#include <coldpress/convert/nam.hpp>
#include <coldpress/dynamic/stream.hpp>

#include <memory>
#include <string>

namespace coldpress::audio {

class Resampling;

struct PlayOptions {
  double sample_rate = 48000;  // of the sound that is played, in Hz
  Index most = 1024;           // samples of a block; longer ones are cut
  double size = 1;             // convert::NamOptions::size
};

/// One channel of sound through a network that has one value per step in and out. The constructor takes all memory and
/// lets the network hear silence until it has settled, so it belongs in a thread that may wait. The other functions
/// allocate nothing, take no lock and make no system call.
class PlayableModel {
 public:
  /// Reads a .nam file, or else a file of coldpress or Juice, with what convert::nam_metadata_of finds in it. A model
  /// that does not say its sample rate is taken to be made for 48,000 Hz if it is or was a .nam file, and otherwise for
  /// any. Throws what convert::read_nam and persist::read_model throw; ShapeError if the network does not have one
  /// value in and out; DataError if it makes of silence a value that is not finite, or if its sample rate or loudness
  /// is out of range; UnsupportedError if its file has transforms of samples, which a signal does not go through, or if
  /// the sample rates differ, and the library was built without libsamplerate.
  explicit PlayableModel(std::string const& path, PlayOptions const& options = {});
  ~PlayableModel();
  PlayableModel(PlayableModel const&) = delete;
  PlayableModel& operator=(PlayableModel const&) = delete;

  /// Plays the next samples; y has as many values as x and may not overlap it. If the network makes of them a value
  /// that is not finite, y is silence, and the model starts anew. Throws ShapeError if the lengths differ.
  void process(std::span<float const> x, std::span<float> y);
  /// Makes the next sample the first one after silence.
  void reset();

  /// How many samples later the sound comes out than in. It is 0 unless the model is for another sample rate.
  Index latency() const;
  /// The number of earlier samples on which the network's output depends, at most endless_past.
  Index past() const { return past_; }
  /// The factor that brings the loudness of the model to `loudness` dB; 1 if the file does not say how loud it is.
  float level(double loudness) const;
  /// The sample rate that the model is for, in Hz.
  double sample_rate() const { return sample_rate_; }
  convert::NamMetadata const& metadata() const { return metadata_; }
  std::string const& path() const { return path_; }

 private:
  PlayableModel(std::string const& path, PlayOptions const& options, convert::NamModel const& read);
  void settle();
  void play(std::span<float const> x, std::span<float> y);

  std::string path_;
  convert::NamMetadata metadata_;
  std::unique_ptr<Resampling> resampling_;  // none at the model's own sample rate
  dynamic::Layer network_;
  dynamic::Stream stream_;
  double sample_rate_ = 0;
  Index past_ = 0, most_ = 0;
  std::vector<float> settled_;  // the state of the stream after silence
};

}  // namespace coldpress::audio
