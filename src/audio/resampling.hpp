// Sound that is taken to another sample rate, processed there, and brought back.
#pragma once

#include <coldpress/core/shape.hpp>

#include <memory>
#include <span>
#include <vector>

namespace coldpress::audio {

class Resampling {
 public:
  /// Takes blocks of up to `most` samples at the rate `outer` to `inner`, both in Hz, and back. Throws UnsupportedError
  /// if the library was built without libsamplerate.
  Resampling(double outer, double inner, Index most);
  ~Resampling();

  /// The delay in samples of the outer rate.
  Index latency() const { return latency_; }
  /// The greatest number of samples that arrive inside from a block.
  Index most_inside() const { return static_cast<Index>(inside_x_.size()); }

  /// inside(x, y) gets blocks at the inner rate, which may be empty. x and y have at most `most` samples.
  template <class Inside>
  void process(std::span<float const> x, std::span<float> y, Inside inside) {
    std::size_t const count = go_in(x);
    inside(std::span<float const>{inside_x_.data(), count}, std::span<float>{inside_y_.data(), count});
    come_out(count, y);
  }
  /// Forgets all sound.
  void reset();

 private:
  struct Converters;
  std::size_t go_in(std::span<float const> x);
  void come_out(std::size_t count, std::span<float> y);

  std::unique_ptr<Converters> converters_;
  [[maybe_unused]] double ratio_ = 1;
  Index latency_ = 0;
  std::vector<float> inside_x_, inside_y_, out_;  // out_ begins with what is to come out next
  [[maybe_unused]] std::size_t waiting_ = 0;      // samples in out_
};

}  // namespace coldpress::audio
